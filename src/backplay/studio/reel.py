"""Pictures along an episode of any length: few of them, evenly spread.

Comes in: pictures by step. Goes out: those that are kept; where they grow too many, every other one
is let go. Does not know: what they show.
"""

from __future__ import annotations

from backplay.studio.pictures import Picture


class Reel:
    """At most so many pictures."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.stride = 1
        """Between two that are kept."""
        self.pictures: dict[int, Picture] = {}

    def wants(self, step: int) -> bool:
        """Whether a picture of this step would be kept."""
        return step % self.stride == 0 and step not in self.pictures

    def add(self, step: int, picture: Picture) -> None:
        """Keeps one more."""
        self.pictures[step] = picture
        if len(self.pictures) > self._most:
            self.stride *= 2
            self.pictures = {t: p for t, p in self.pictures.items() if t % self.stride == 0}

    def forget_after(self, last: int) -> None:
        """Lets go of what comes after this step."""
        if any(step > last for step in self.pictures):
            self.pictures = {step: p for step, p in self.pictures.items() if step <= last}
