"""Curricula: where the episodes of training start."""

from backplay.curricula.backward import Backward
from backplay.curricula.bins import FailureBins, Learnability
from backplay.curricula.bisection import Bisection
from backplay.curricula.check import check_curriculum
from backplay.curricula.combinators import AtPar, Patience, TrueStarts, Until, Waiting
from backplay.curricula.curriculum import Curriculum
from backplay.curricula.frontier import Frontier
from backplay.curricula.growing import GrowingWindow
from backplay.curricula.reverse import ReverseCurriculum
from backplay.curricula.reverse_forward import ReverseForward
from backplay.curricula.serialise import from_json, kinds_in, to_json
from backplay.curricula.staircase import Staircase
from backplay.curricula.standard import Standard, Uniform
from backplay.curricula.windows import Backplay, Window
