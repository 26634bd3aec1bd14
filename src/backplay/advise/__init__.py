"""Advise: look at a task for less than a minute and say whether Backplay will help, and how.

    advice = bp.advise(lambda: gym.make("MountainCar-v0"), bp.load("car.npz"))
    print(describe(advice)); advice.fastest; advice.predictions["Backplay"].frames

Comes in: how to make an env, and a demonstration. Goes out: `Advice`. Nothing is trained: the
policy, by default random actions, plays short rollouts from states of the demonstration.
"""

from typing import TYPE_CHECKING

from backplay.extras import lazily

if TYPE_CHECKING:
    from backplay.advise.advice import Advice, describe
    from backplay.advise.advisor import advise
    from backplay.advise.fit import Prediction
    from backplay.advise.measure import Measured, Rung
    from backplay.advise.signs import Sign

__getattr__ = lazily(
    __name__,
    {
        "advice": "Advice describe",
        "advisor": "advise",
        "fit": "Prediction",
        "measure": "Measured Rung",
        "signs": "Sign",
    },
)
