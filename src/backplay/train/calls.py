"""Training and measuring by one call each.

    agent = bp.train(lambda: gym.make("MountainCar-v0"), [demo], frames=300_000)
    print(bp.evaluate(lambda: gym.make("MountainCar-v0"), agent))
    action, _ = agent.predict(observation, deterministic=True)

Comes in: how to make an env, demonstrations. Goes out: an agent, an `Evaluation`. Nothing is
written: `backplay train` keeps a run directory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from gymnasium import spaces

from backplay.curricula import Curriculum, Frontier
from backplay.demos import Demonstration
from backplay.demos.doubts import warn_of_doubts
from backplay.demos.success import Success, success_rule
from backplay.errors import BackplayError, ensure, show
from backplay.extras import require
from backplay.restore import layers
from backplay.restore.rollout import AnyEnv, Policy, predicted
from backplay.wrapper import BackplayEnv

if TYPE_CHECKING:
    from backplay.train.agent import Agent
    from backplay.train.config import TrainConfig
    from backplay.train.evaluate import Act, Evaluation
    from backplay.train.progress import Progress

_LOAD = "Load files first: bp.load(path), or bp.load_all(folder)."


def train(
    make_env: Callable[[], AnyEnv],
    demos: Demonstration | Sequence[Demonstration],
    *,
    frames: int | None = None,
    curriculum: Curriculum | None = None,
    seed: int | None = None,
    success: Success | None = None,
    settings: Literal["recorded", "mine"] | None = None,
    config: TrainConfig | None = None,
    show_progress: Callable[[Progress], None] | None = None,
) -> Agent:
    """Trains an agent with PPO; its episodes start in states of demonstrations.

    Args:
        make_env: makes the environment, wrapped as it was when the demonstrations were recorded.
        demos: one or more demonstrations of it.
        frames: how long to train; by default as `config` says.
        curriculum: where episodes start; by default a `Frontier`.
        seed: of the network, the envs and the learner; by default as `config` says.
        success: which endings count as success: a function of an `Ending`, or one of the texts
            `info:KEY`, `return>=X`, `terminated`; by default those that are like the
            demonstrations'. A demonstration that does not look like one is warned of.
        settings: "mine" keeps the settings of the env where they are not the demonstrations'; by
            default as `config` says.
        config: everything else, see `backplay.train.TrainConfig`.
        show_progress: told after every update, e.g. `print`.
    """
    require("torch")
    from backplay.train.agent import Agent
    from backplay.train.config import TrainConfig
    from backplay.train.loop import Training

    _require_maker("train", make_env)
    listed = _listed(demos)
    ensure(listed, "demos", "demonstrations", demos, do=_LOAD)
    chosen = config or TrainConfig()
    chosen = replace(
        chosen,
        frames=chosen.frames if frames is None else frames,
        seed=chosen.seed if seed is None else seed,
        settings=chosen.settings if settings is None else settings,
    )
    env = _made(make_env)
    for demo in listed:
        warn_of_doubts(env, demo, success or chosen.success)
    env.close()
    training = Training(make_env, listed, curriculum or Frontier(), chosen, success=success)
    evaluation = None
    try:
        for progress in training.run():
            evaluation = progress.evaluation or evaluation
            if show_progress is not None:
                show_progress(progress)
    finally:
        training.close()
    space = training.envs.single_observation_space
    return Agent(training.learner, space, training.succeeded, evaluation, seed=chosen.seed)


def evaluate(
    make_env: Callable[[], AnyEnv],
    agent: Any,
    *,
    demos: Demonstration | Sequence[Demonstration] = (),
    success: Success | None = None,
    episodes: int = 100,
    deterministic: bool = False,
    seed: int = 10_000,
) -> Evaluation:
    """How good an agent is from the environment's own resets.

    Args:
        make_env: makes the environment, without BackplayEnv.
        agent: what `train` returned, a model of Stable-Baselines3 or anything else with its
            `predict`, or a function from an observation to an action. One with a memory, such as a
            recurrent policy, is refused: it would be asked without it. What a model's own
            VecNormalize does to observations is done to these, too; one loaded without its env has
            none, so that it needs a function around it.
        demos: demonstrations, where the agent brings no rule of success of its own: an episode
            succeeds if it ends as they do.
        success: which endings count as success.
        episodes: how many.
        deterministic: take the likeliest actions instead of drawing them.
        seed: of the first episode's reset; the next has the next.
    """
    from backplay.train.evaluate import evaluate as play

    _require_maker("evaluate", make_env)
    ensure(episodes >= 1, "episodes", "at least 1", episodes)
    brought, listed = getattr(agent, "succeeded", None), _listed(demos)
    rule = success_rule(success, listed) if success or listed else brought
    if rule is None:
        raise BackplayError(
            "success", expected="a rule, or demonstrations to compare with", got="neither",
            do="Pass success= or demos=.",
        )  # fmt: skip
    env = _made(make_env)
    act = _acting(env.observation_space, agent, deterministic)
    env.close()
    return play(make_env, act, rule, episodes=episodes, seed=seed)


def _listed(demos: Demonstration | Sequence[Demonstration]) -> list[Demonstration]:
    """One demonstration or several as a list; anything else is refused."""
    listed = [demos] if isinstance(demos, Demonstration) else list(demos)
    fits = all(isinstance(demo, Demonstration) for demo in listed)
    ensure(fits, "demos", "demonstrations", demos, do=_LOAD)
    return listed


def _require_maker(call: str, make_env: Any) -> None:
    """Several envs are made, so one of them, or its name, is not enough."""
    named = (
        f"lambda: gym.make({make_env!r})" if isinstance(make_env, str) else "lambda: gym.make(…)"
    )
    ensure(
        callable(make_env), "make_env", "a class, or a function that makes the environment",
        make_env, do=f"Write bp.{call}({named}, …).",
    )  # fmt: skip


def _made(make_env: Callable[[], AnyEnv]) -> AnyEnv:
    """An env of the maker's; refused if it is no plain one, or the same one each time."""
    before = make_env()
    before.close()
    env = make_env()
    inside = [*layers(env)]
    ensure(
        inside[-1] is not [*layers(before)][-1], "make_env", "another environment at each call",
        got="the same one twice", do="Make it in the function: lambda: gym.make(…).",
    )  # fmt: skip
    ensure(
        not any(isinstance(layer, BackplayEnv) for layer in inside), "make_env",
        "the plain environment, whose episodes begin at its own resets", got="a BackplayEnv",
        do="Make it without BackplayEnv.",
    )  # fmt: skip
    return env


def _acting(space: spaces.Space[Any], agent: Any, deterministic: bool) -> Act:
    """The agent as a function from a batch of observations to a batch of actions."""
    if hasattr(agent, "predict"):
        return lambda seen: predicted(agent, seen, deterministic=deterministic)
    if not callable(agent):
        raise BackplayError(
            "agent", expected="an object with predict, or a function from observation to action",
            got=show(agent), do="Pass what bp.train returned, or a model of your trainer.",
        )  # fmt: skip
    policy: Policy = agent
    return lambda seen: [policy(one) for one in _each(space, seen)]


def _each(space: spaces.Space[Any], batch: Any) -> list[Any]:
    """The observations of a batch of a space, one by one."""
    if isinstance(space, spaces.Dict):
        parts = [_each(part, batch[key]) for key, part in space.items()]
        return [dict(zip(space, one, strict=True)) for one in zip(*parts, strict=True)]
    if isinstance(space, spaces.Tuple):
        return list(zip(*map(_each, space, batch), strict=True))
    return list(batch)
