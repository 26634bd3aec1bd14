"""Curricula: where the episodes of training start."""

from backplay.curricula.backplay import Backplay
from backplay.curricula.check import check_curriculum
from backplay.curricula.curriculum import Curriculum
from backplay.curricula.reverse import ReverseCurriculum
from backplay.curricula.serialise import from_json, to_json
from backplay.curricula.standard import Standard, Uniform
from backplay.curricula.windows import Window

__all__ = [
    "Backplay",
    "Curriculum",
    "ReverseCurriculum",
    "Standard",
    "Uniform",
    "Window",
    "check_curriculum",
    "from_json",
    "to_json",
]
