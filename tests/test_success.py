"""Success said aloud: rules by text, in words, and warnings where a demonstration seems to fail."""

import re
import warnings
from dataclasses import replace
from typing import Any

import gymnasium as gym
import pytest

import backplay as bp
from backplay.demos.doubts import BackplayWarning, doubts
from backplay.demos.success import Ending, default_rule, describe_rule, success_rule
from envs_for_tests import Corridor

END = Ending(None, 2.5, 7, -1.0, True, False, {"won": 1})


def lake(**kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make("FrozenLake-v1", **kwargs)


def test_the_texts_are_rules() -> None:
    assert success_rule("info:won")(END)
    assert not success_rule("info:lost")(END)
    assert success_rule("return>=2.5")(END)
    assert not success_rule("return >= 2.6")(END)
    assert success_rule("terminated")(END)
    assert not success_rule("terminated")(END._replace(terminated=False, truncated=True))
    assert success_rule(lambda end: end.length == 7)(END)


@pytest.mark.parametrize(
    "text", ["", "info:", "return>=", "return>=much", "return>=nan", "winning"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(bp.BackplayError, match="info:KEY, return>=X or terminated"):
        success_rule(text)


def test_every_rule_says_what_it_asks_for() -> None:
    assert describe_rule(success_rule("info:won")) == "an episode whose last info has 'won' true"
    assert "at least 3" in describe_rule(success_rule("return>=3"))
    assert "terminates" in describe_rule(success_rule("terminated"))
    assert "your function <lambda>" in describe_rule(lambda end: True)
    demo = bp.record(Corridor(), lambda _: 1)
    assert describe_rule(default_rule([demo])) == (
        "an episode that terminates with a last reward above 0, as the demonstration does;"
        " where the last info has 'is_success' or 'success', what that says"
    )
    costly = replace(demo, rewards=demo.rewards - 2)  # any end will do where every step costs
    assert describe_rule(default_rule([costly])).startswith("an episode that terminates, as the")


def test_a_fall_into_a_hole_is_warned_of_and_the_goal_still_counts() -> None:
    """As `play --help` once advised: a demonstration that ends without reward."""
    with pytest.warns(BackplayWarning, match=r"may be no success.*random episodes.*success='info"):
        demo = bp.record(lake(is_slippery=False), [1, 1, 1])  # ends in a hole
    assert demo.terminated
    rule = default_rule([demo])
    goal = Ending(None, 1.0, 6, 1.0, True, False, {})
    assert rule(goal)  # to reach the goal is no failure, whatever the demonstration did
    report = bp.check(lake(is_slippery=False), demo)
    assert any("random episodes end in the same way" in remark for remark in report.remarks)
    assert "last reward of at least 0" in str(report)
    with pytest.warns(BackplayWarning):
        bp.train(lambda: lake(is_slippery=False), demo, frames=128)


def balance_badly(_: Any) -> int:
    return 0


def stand_still(seen: Any) -> int:
    return int(seen[1]) % 2


class Distant(Corridor):
    """Every step costs what the goal is away, for 20 steps."""

    def step(self, action: Any) -> Any:
        seen, _, _, _, info = super().step(action)
        return seen, -max(0.0, self.length - self.place), False, self.steps == 20, info


@pytest.mark.parametrize(
    ("make", "policy", "words"),
    [
        (lambda: gym.make("CartPole-v1"), balance_badly, "its last reward is like those before"),
        (lambda: gym.make("LunarLander-v3"), balance_badly, "its worst"),
        (Corridor, [1, 1, 1], "earns nothing and does not terminate"),
        (lambda: gym.make("MountainCar-v0"), balance_badly, "each of its steps costs 1, whatever"),
        (lambda: gym.make("CliffWalking-v1"), [0] + [1] * 10, "each of its steps costs 1"),
        (Distant, [1] * 5, "it stops before its episode ends, by a step that costs"),
        (Distant, stand_still, r"terminate, and \d+% of random episodes earn as much"),
    ],
)
def test_demonstrations_that_look_like_failures(make: Any, policy: Any, words: str) -> None:
    with pytest.warns(BackplayWarning, match=words):
        bp.record(make(), policy)


def swing(seen: Any) -> int:
    return 2 if seen[1] >= 0 else 0


@pytest.mark.parametrize(
    ("make", "policy"),
    [
        (lambda: gym.make("MountainCar-v0"), swing),  # every step costs, the last too
        (lambda: lake(is_slippery=False), [2, 2, 1, 1, 1, 2]),
        (Corridor, lambda _: 1),
        (Distant, lambda _: 1),
        (Distant, [1] * 12),  # it stops where nothing costs any more
    ],
)
def test_demonstrations_that_look_like_successes_are_recorded_in_silence(
    make: Any, policy: Any
) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", BackplayWarning)
        bp.record(make(), policy, seed=3)


def test_who_knows_better_says_so() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", BackplayWarning)
        for word in ("terminated", "return>=0", lambda end: end.length == 3):
            demo = bp.record(lake(is_slippery=False), [1, 1, 1], success=word)
            assert demo.success is True
    with pytest.warns(BackplayWarning, match="as the environment or you said"):
        assert bp.record(Corridor(), lambda _: 1, success="return>=5").success is False
    plain = bp.record(Corridor(), lambda _: 1)
    assert doubts(Corridor(), plain, "return>=5") is not None


def test_a_success_without_rewards_says_nothing_of_the_agents() -> None:
    """Any end would count: the rule is what the demonstration's end has, and it has nothing."""
    with pytest.warns(BackplayWarning, match="random episodes end in the same way"):
        demo = bp.record(lake(is_slippery=False), [1, 1, 1], success=True)
    assert demo.success is True


def test_a_rule_that_random_play_meets_is_doubted() -> None:
    hole = bp.record(lake(is_slippery=False), [1, 1, 1], success="return>=0")
    plain = replace(hole, success=None)
    for rule in ("return>=0", "terminated"):
        said = doubts(lake(is_slippery=False), plain, rule)
        assert re.search(r"\d\d+% of random episodes succeed by the rule, too", said)
    goal = bp.record(lake(is_slippery=False), [2, 2, 1, 1, 1, 2])
    assert doubts(lake(is_slippery=False), goal, "return>=1") is None


def test_a_key_that_no_info_has_is_doubted() -> None:
    plain = bp.record(Corridor(), lambda _: 1)
    assert "where there is: nothing" in str(doubts(Corridor(), plain, "info:won"))
    slippery = bp.record(lake(is_slippery=False), [2, 2, 1, 1, 1, 2])
    assert "where there is: prob" in str(doubts(lake(is_slippery=False), slippery, "info:goal"))
    assert doubts(lake(is_slippery=False), slippery, "info:prob") is None
    assert doubts(Corridor(), plain, "info:is_success") is None  # some say it of successes alone


class SaysWon(Corridor):
    """Says it of successes alone."""

    def step(self, action: Any) -> Any:
        seen, reward, terminated, truncated, _ = super().step(action)
        ended = {"won": True} if terminated else {}
        return seen, reward, terminated, truncated, {"place": self.place, **ended}


def test_a_key_that_no_episode_ends_with_is_said_once_where_it_is_asked_for() -> None:
    demo = bp.record(SaysWon(), lambda _: 1)

    def play(success: str) -> None:
        env = bp.BackplayEnv(SaysWon(), [demo], bp.Standard(), success=success)
        for _ in range(50):
            env.reset()
            while not env.step(1)[2]:
                pass

    def measure(success: str) -> None:
        bp.evaluate(SaysWon, lambda _: 1, success=success, episodes=50)

    words = "'wno' was not in the last info of any of 20 episodes.*place, won. It may be misspelt"
    for asks in (play, measure):
        with pytest.warns(BackplayWarning, match=words) as caught:
            asks("info:wno")
        assert len(caught) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error", BackplayWarning)
            asks("info:won")
            asks("terminated")


@pytest.mark.parametrize("limit", [None, 10])
def test_a_key_of_ones_own_that_may_tell_success_is_named(limit: int | None) -> None:
    class Tells(Corridor):
        def step(self, action: Any) -> Any:
            seen, _, terminated, *_ = super().step(action)
            cut = self.steps == limit
            return seen, 0.0, terminated, cut, {"task_complete": terminated, "energy": 3.0}

    with pytest.warns(BackplayWarning, match="true or false under 'task_complete'") as caught:
        bp.record(Tells(4 if limit is None else 30), lambda _: 1)
    assert "energy" not in str(caught[0].message)


def test_a_rule_by_text_reaches_the_wrapper_the_training_and_the_measure() -> None:
    demo = bp.record(Corridor(), lambda _: 1)
    env = bp.BackplayEnv(Corridor(), [demo], bp.Uniform(), success="return>=5")
    env.reset(seed=0, options={"start": (0, 9)})
    env.step(1)
    assert [episode.success for episode in env.take_episodes()] == [False]
    assert bp.evaluate(Corridor, lambda _: 1, success="return>=1", episodes=3).success == 1.0
    assert bp.evaluate(Corridor, lambda _: 1, success="return>=2", episodes=3).success == 0.0
