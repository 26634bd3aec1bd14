"""Training: the one loop that meets every part, its settings, and what it tells."""

from backplay.train.config import Evaluator, MakeNetwork, TrainConfig
from backplay.train.loop import Training, without_words
from backplay.train.progress import Progress

__all__ = ["Evaluator", "MakeNetwork", "Progress", "TrainConfig", "Training", "without_words"]
