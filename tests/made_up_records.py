"""Records of runs that never were."""

from typing import Any

from backplay.report.records import RunRecord


def record(seed: int = 0, end: float | None = 0.8, **changes: Any) -> RunRecord:
    """A run that ended with this success; None for one that has not ended."""
    level = 0.8 if end is None else end
    fields: dict[str, Any] = {
        "path": f"runs/{changes.get('regime', 'backplay')}-{seed}", "kind": "maze",
        "setting": "Optimal", "regime": "backplay", "seed": seed, "frames": 1_000,
        "seconds": 60.0 + 60 * seed, "finished": end is not None,
        "curve": [(500, {"success": level / 2}), (1_000, {"success": level})],
        "starts": [(250, 0, 10, 5), (500, 4, 8, 2), (750, 8, 6, 6), (1_000, 8, 4, 1)],
        "measures": {} if end is None else {"success": end},
        "provenance": {
            "command": f"backplay work {seed}", "commit": "abc123", "versions": {"numpy": "2.0"},
        },
    }  # fmt: skip
    return RunRecord(**fields | changes)


def records(*ends: float, **changes: Any) -> list[RunRecord]:
    """A run for each success, of the seeds 0, 1, …"""
    return [record(seed, end, **changes) for seed, end in enumerate(ends)]
