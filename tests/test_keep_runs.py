"""Evidence that is kept of finished runs says the same as the runs."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from pathlib import Path

from backplay.paper.pommerman.job import PommermanJob
from backplay.report.reading import read_run
from backplay.runs import create, open_run
from backplay.train.job import to_json

KEEP = Path(__file__).parents[1] / "results" / "keep_runs.py"


def test_kept_runs_are_finished_and_have_the_same_curve_and_starts(tmp_path: Path) -> None:
    job = PommermanJob(regime="backplay")
    run = create(
        tmp_path / "runs" / "scale-1" / job.name, {"job": to_json(job), "threads": 1},
        command=f"backplay reproduce pommerman-4 --dir {tmp_path} --seeds 3",
    )  # fmt: skip
    run.begin_process()
    create(tmp_path / "runs" / "scale-1" / "unfinished", {"job": to_json(job), "threads": 1})
    for k in range(1, 7):
        line = {"frames": 100 * k, "by_steps_back": [[0, k, 1], [16 * k, 2, 0]]}
        run.append_metrics(line | ({"evaluation": {"success": k / 10}} if k % 3 == 0 else {}))
    run.save({"frames": 600})
    run.finish({"measures": {"success": 0.5}})
    command = [sys.executable, str(KEEP), str(tmp_path / "runs"), str(tmp_path / "kept")]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert told == f"scale-1/{job.name}\n"
    kept = open_run(tmp_path / "kept" / "scale-1" / job.name)
    assert kept.result == run.result
    assert not (kept.path / "checkpoints").exists()
    assert kept.provenance == {
        **run.provenance, "command": "backplay reproduce pommerman-4 --seeds 3"
    }  # fmt: skip
    assert str(tmp_path) not in (kept.path / "processes.jsonl").read_text()
    assert sys.executable not in (kept.path / "processes.jsonl").read_text()
    before, after = read_run(run), read_run(kept)
    assert after.finished
    assert after.curve == before.curve
    assert len(kept.metrics()) == 2
    tries, same = (Counter[int](), Counter[int]())
    for counts, record in ((tries, before), (same, after)):
        for _, back, tried, _won in record.starts:
            counts[back] += tried
    assert tries == same
