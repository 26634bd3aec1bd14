"""The random agent: one of the six actions, each as likely as any other.

It looks at nothing and remembers nothing.
"""

from __future__ import annotations

from backplay.envs.chance import below
from backplay.envs.kernels import kernel
from backplay.envs.pommerman.layout import ACTIONS


@kernel
def decide(s, seat, memory, streams, i, scratch):  # type: ignore[no-untyped-def]
    """A uniform action."""
    return below(streams, i, ACTIONS)
