"""Training: the one loop that meets every part, its settings, and what it tells.

The names below need torch, so they are imported when they are asked for.
"""

from typing import TYPE_CHECKING

from backplay.extras import lazily

if TYPE_CHECKING:
    from backplay.train.config import Evaluator, MakeNetwork, TrainConfig
    from backplay.train.loop import Training, without_words
    from backplay.train.progress import Progress

__getattr__ = lazily(
    __name__,
    {
        "config": "Evaluator MakeNetwork TrainConfig",
        "loop": "Training without_words",
        "progress": "Progress",
    },
)
