"""What a run has learned, as a player: the same chances as the network's, in a file too."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from backplay.cli.pommerman import AgentConfig, TournamentConfig, agent, tournament
from backplay.envs.pommerman.learned import Policy
from backplay.errors import BackplayError
from backplay.paper.maze.job import MazeJob
from backplay.paper.pommerman.agent import learned_by
from backplay.paper.pommerman.imitation import demonstrated
from backplay.paper.pommerman.job import PommermanJob
from backplay.runs.execute import carry_out, opened, prepare

TINY: dict[str, Any] = {
    "maps": 1, "held_out": 0, "opponents": "simple", "num_envs": 4, "games": 1, "final_games": 1,
    "evaluations": 1, "frames": 1_024,
}  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("runs") / "one"
    carry_out(prepare(path, PommermanJob(regime="standard", **TINY)).path)
    return path


def test_it_does_as_the_network_and_knows_what_it_met(run: Path, tmp_path: Path) -> None:
    _, work = opened(run)
    network, maps = work.training.learner.network, work.maps
    policy = learned_by(run)
    seen, _ = demonstrated(maps[:1], "facts")
    met = seen[[bool(np.isin(row[row >= 0], policy.known).all()) for row in seen]]
    assert len(met) > 3
    assert len(met) < len(seen)
    with torch.inference_mode():
        wanted = network(torch.from_numpy(met))[0].softmax(-1).numpy()
    assert np.allclose(policy.chances(met), wanted, atol=1e-5)
    file = tmp_path / "agent.npz"
    assert agent(AgentConfig(run=run, out=file)) == 0
    half = Policy.load(file)
    assert np.allclose(half.chances(met), wanted, atol=0.01)
    assert half.made["frames"] == 1_024
    assert half.made["job"]["regime"] == "standard"
    assert file.stat().st_size < 10_000_000


def test_who_hides_is_measured_with_shields_and_without(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Path(__file__).parents[2] / "benchmarks" / "pommerman_hiding.py"
    monkeypatch.setattr("sys.argv", [str(script), str(run), "2"])
    runpy.run_path(str(script), run_name="__main__")
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(line["shield"], line["games"]) for line in told] == [(False, 2), (True, 2)]


def test_runs_and_files_sit_in_tournaments(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "agent.npz"
    agent(AgentConfig(run=run, out=file))
    capsys.readouterr()
    names = f"run:{run},{file},simple"
    assert tournament(TournamentConfig(agents=names, games=4, jobs=2)) == 0
    said = capsys.readouterr().out
    assert f"run:{run}" in said
    assert "simple (any of 2)" in said


def test_other_runs_are_no_players(tmp_path: Path) -> None:
    path = prepare(tmp_path / "maze", MazeJob(regime="standard")).path
    with pytest.raises(BackplayError, match="is no run of a player"):
        learned_by(path)
    path = prepare(tmp_path / "planes", PommermanJob(regime="standard", preset="paper")).path
    with pytest.raises(BackplayError, match="is no run of a player"):
        learned_by(path)
    path = prepare(tmp_path / "new", PommermanJob(regime="standard")).path
    with pytest.raises(BackplayError, match="no checkpoint yet"):
        learned_by(path)
