"""One short run in Pommerman with other settings than the preset's, on maps that nobody reports on.

    python benchmarks/pommerman_tuning.py standard 4e6 minibatch_size=2048 value_lambda=1.0
    python benchmarks/pommerman_tuning.py backplay 3e6 width=128 "hidden=(128,)" seed=1

The maps are those of map seed 100; experiments report on map seed 0. Options are fields of
`PPOConfig`, arguments of `fact_network`, or `seed`, `maps`, `envs` (games side by side),
`observation`, `budget`: the frames of the whole run of which this is the beginning, for rates and
windows. A line of JSON for each of 10 evaluations: wins of 100 games from the true starts, wins of
the last 400 episodes of training, seconds of the processor for playing and for learning; at the end
wins of 400 games, and on maps held out.
"""

import ast
import inspect
import json
import sys
import time
from collections import deque
from dataclasses import fields, replace
from typing import Any

import numpy as np
import torch

from backplay.curricula import Backplay, Curriculum, Frontier, Standard, Uniform
from backplay.envs.pommerman.demonstrations import make_games
from backplay.envs.pommerman.recordings import Perspective
from backplay.envs.pommerman.vector import PommermanVector
from backplay.learners import PPO, PPOConfig
from backplay.learners.sparse import fact_network
from backplay.paper.pommerman.play import play_maps
from backplay.paper.pommerman.presets import PRESETS
from backplay.wrapper import advance

EVALUATIONS, GAMES, FINAL_GAMES, MAP_SEED = 10, 100, 400, 100

OWN = {"seed": 0, "envs": 60, "budget": None, "observation": "facts", "maps": 4}


def curriculum(regime: str, frames: int) -> Curriculum:
    """Standard, Uniform, the default, or the paper's windows stretched to so many frames."""
    windows = Backplay.pommerman_4(max(1, frames // 500))
    known = {"standard": Standard(), "uniform": Uniform(), "default": Frontier()}
    return known.get(regime, windows)


def options(words: list[str]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """The run's own options, the learner's and the network's, from words such as `width=128`."""
    found = {name: ast.literal_eval(value) for name, value in (word.split("=") for word in words)}
    own = {name: found.pop(name, default) for name, default in OWN.items()}
    learner = {
        field.name: found.pop(field.name) for field in fields(PPOConfig) if field.name in found
    }
    unknown = found.keys() - inspect.signature(fact_network).parameters.keys()
    if unknown:
        raise SystemExit(f"neither of PPOConfig nor of fact_network: {', '.join(sorted(unknown))}")
    return own, learner, found


def wins(
    learner: PPO, maps: list[Perspective], games: int, observation: Any, *, greedy: bool = False
) -> Any:
    """Games from the first state of every map."""
    generator = torch.Generator().manual_seed(0)
    return play_maps(
        maps, lambda seen: learner.act(seen, greedy=greedy, generator=generator), games=games,
        seed=10_000, opponents="fsmts", simulations=50, observation=observation,
    )  # fmt: skip


def main() -> None:
    torch.set_num_threads(1)
    regime, frames = sys.argv[1], int(float(sys.argv[2]))
    own, settings, shape = options(sys.argv[3:])
    seed, budget = own["seed"], int(own["budget"] or frames)
    config = replace(PRESETS["ours"].ppo, **settings)
    library = make_games(own["maps"], held_out=10, seed=MAP_SEED)
    maps = [game.seen_by("winner") for game in library.training]
    apart = [game.seen_by("winner") for game in library.held_out]
    starts = curriculum(regime, budget)
    envs = PommermanVector(
        own["envs"],
        demos=maps,
        curriculum=starts,
        initial="demonstration",
        observation=own["observation"],
    )
    space, actions = envs.single_observation_space, envs.single_action_space
    shape = {"bound": 1.0, **shape}
    learner = PPO(fact_network(space, actions, seed=seed, **shape), actions, config, seed=seed)
    seen, _ = envs.reset(seed=seed)
    recent: deque[bool] = deque(maxlen=400)
    done, playing, learning, next_evaluation = 0, 0.0, 0.0, 0
    while done < frames:
        began = time.process_time()
        rollout = learner.collect(envs, seen)
        seen, collected = rollout.last_observations, time.process_time()
        metrics = learner.update(rollout, progress=done / budget)
        playing += collected - began
        learning += time.process_time() - collected
        done += rollout.frames
        starts, episodes = advance(envs, starts, done)
        recent.extend(episode.success for episode in episodes)
        ended = done >= frames
        if not ended and done < next_evaluation:
            continue
        next_evaluation = done + frames // EVALUATIONS
        played = wins(
            learner, maps, (FINAL_GAMES if ended else GAMES) // own["maps"], own["observation"]
        )
        line = {
            "words": sys.argv[1:], "frames": done, "success": float(played.wins.mean()),
            "by_map": played.by_map, "bomb_share": played.bomb_share,
            "ties": float(played.ties.mean()), "steps": played.lengths.mean(1).tolist(),
            "in_training": float(np.mean(recent)) if recent else 0.0,
            "playing": playing, "learning": learning, "learner": metrics,
        }  # fmt: skip
        if ended:
            greedy = wins(
                learner, maps, FINAL_GAMES // own["maps"], own["observation"], greedy=True
            )
            line["greedy_success"] = float(greedy.wins.mean())
            line["held_out_success"] = float(
                wins(learner, apart, 20, own["observation"]).wins.mean()
            )
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
