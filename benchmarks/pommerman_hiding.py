"""Who wins by hiding: a trained agent on its own maps, with opponents that kill themselves or not.

    python benchmarks/pommerman_hiding.py RUN... [games of each map, by default 100]

RUN is the directory of a finished run of `pommerman-4`. Its agent plays from the first state of
every map: as in training, and then with everybody shielded from the explosions of own bombs. A line
of JSON for each: wins, ties, steps, the share of bombs among its actions.
"""

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from backplay.envs.pommerman.layout import SHIELD
from backplay.envs.pommerman.recordings import Perspective
from backplay.paper.pommerman.play import play_maps
from backplay.paper.pommerman.presets import PRESETS
from backplay.paper.pommerman.work import PommermanWork
from backplay.runs.execute import opened
from backplay.train.agent import acting


def shielded(place: Perspective) -> Perspective:
    """The same map in a game with shields."""
    rows = place.game.rows.copy()
    rows[:, SHIELD] = 1
    return Perspective(replace(place.game, rows=rows), place.seat)


def main() -> None:
    torch.set_num_threads(1)
    *runs, last = sys.argv[1:]
    games = int(last) if last.isdigit() else 100
    for path in runs if last.isdigit() else [*runs, last]:
        run, work = opened(Path(path))
        assert isinstance(work, PommermanWork)
        for shield in (False, True):
            maps = [shielded(one) for one in work.maps] if shield else work.maps
            played = play_maps(
                maps, acting(work.training.learner), games=games, seed=10_000,
                opponents=work.job.opponents, simulations=work.job.simulations,
                observation=PRESETS[work.job.preset].observation,
            )  # fmt: skip
            told = {
                "run": run.path.name, "shield": shield, "games": int(played.wins.size),
                "wins": int(played.wins.sum()), "by_map": played.by_map,
                "ties": int(played.ties.sum()), "steps": float(np.mean(played.lengths)),
                "bomb_share": played.bomb_share,
            }  # fmt: skip
            print(json.dumps(told), flush=True)
        work.close()


if __name__ == "__main__":
    main()
