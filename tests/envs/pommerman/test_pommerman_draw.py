"""Drawing: what is in a cell shows in its place, as pixels, as text and in films."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import imageio.v2
import numpy as np
import pytest
from PIL import Image

from backplay.envs import films
from backplay.envs.pommerman import draw, states, tiles
from backplay.envs.pommerman import layout as at
from backplay.errors import BackplayError

GOLDEN = Path(__file__).parents[2] / "golden" / "pommerman"
TILE = 32


def row(**more: Any) -> np.ndarray:
    """Agents in the corners; a wall, wood, the three items, fire of three ages, two bombs."""
    cells = ["0"] * 121
    for cell, shown in ((0, "a"), (110, "b"), (120, "c"), (12, "1"), (13, "2"), (14, "6")):
        cells[cell] = shown
    cells[15], cells[16], cells[60], cells[61], cells[62], cells[80] = "7", "8", "4", "4", "4", "3"
    state = {
        "t": 123,
        "b": "".join(cells),
        "bo": [[7, 3, 2, 3, 4, 0], [0, 0, 9, 2, 0, 0]],
        "fl": [[5, 5, 0], [5, 6, 1], [5, 7, 2]],
        "ag": [[0, 0, 1, 0, 2, 0], [10, 0, 1, 3, 5, 1], [10, 10, 1, 1, 2, 0], [0, 10, 0, 1, 2, 0]],
        "it": [],
    }
    return states.from_json({**state, **more})


def cell_of(picture: np.ndarray, cell: int) -> np.ndarray:
    r, c = divmod(cell, at.SIZE)
    return picture[TILE * r : TILE * (r + 1), TILE * c : TILE * (c + 1)]


def test_a_picture_has_the_boards_size_and_a_status_line() -> None:
    picture = draw.picture(row(), TILE)
    assert picture.shape == (404, 352, 3)
    assert picture.dtype == np.uint8
    assert draw.picture(row(), 16).shape[1] == 176
    assert draw.picture(row(), 15).shape[0] % 2 == 0  # as films want it


def test_every_kind_of_cell_looks_different_and_like_itself() -> None:
    picture = draw.picture(row(), TILE)
    ground = cell_of(picture, 3)
    cells = [0, 110, 120, 12, 13, 14, 15, 16, 60, 61, 62, 80]
    shown = [cell_of(picture, cell) for cell in cells]
    for i, tile in enumerate(shown):
        assert (tile != ground).any(axis=2).mean() > 0.1, cells[i]
        for other in shown[:i]:
            assert (tile != other).any(axis=2).mean() > 0.02
    for seat, cell in enumerate((0, 110, 120)):
        distance = np.abs(cell_of(picture, cell).astype(int) - tiles.PLAYERS[seat]).sum(axis=2)
        assert (distance < 30).mean() > 0.1
    burning = [(cell_of(picture, cell)[..., 2] < 120).mean() for cell in (60, 61, 62)]
    assert burning == sorted(burning)  # old fire is smaller


def test_only_what_changed_looks_different() -> None:
    before, after = draw.picture(row(), TILE), draw.picture(row(it=[[1, 2, 8]]), TILE)
    assert np.array_equal(before, after)  # what is hidden is hidden
    changed = row()
    changed[at.BOARD + 30] = at.WOOD
    differs = (draw.picture(changed, TILE) != before).any(axis=2)
    assert differs[2 * TILE : 3 * TILE, 8 * TILE : 9 * TILE].mean() > 0.8
    assert differs.sum() <= TILE * TILE
    changed = row()
    changed[at.AGENTS + at.AGENT_AMMO] = 7
    differs = (draw.picture(changed, TILE) != before).any(axis=2)
    assert differs[at.SIZE * TILE :, : 352 // 4].any()
    assert not differs[: at.SIZE * TILE].any()


def test_text_shows_cells_bombs_and_players() -> None:
    lines = draw.text(row(), colour=False).splitlines()
    assert len(lines) == 16
    assert lines[0].startswith("09")  # agent 0 on a bomb with nine steps left
    assert lines[1].startswith("  ██▒▒+b+r+k")
    assert lines[5][10:16] == "******"
    assert lines[7][6:8] == "→2"
    assert lines[11] == "step 123 of 800"
    assert lines[13] == " 1  ammo 3  blast 5  kick"
    assert lines[15].endswith("dead")
    assert "\x1b[" in draw.text(row())
    assert "\x1b[" not in draw.text(row(), colour=False)


def test_recorded_games_can_all_be_drawn() -> None:
    with gzip.open(GOLDEN / "games.jsonl.gz", "rt") as file:
        game = json.loads(next(file))
    for step in game["steps"][::40]:
        drawn = states.from_json({name: step[name] for name in game["s0"]})
        assert draw.picture(drawn, 16).any()
        assert f"step {step['t']} " in draw.text(drawn)
    fogged = row()
    fogged[at.BOARD + 50] = at.FOG
    assert "░░" in draw.text(fogged)
    assert draw.picture(fogged).any()


def test_a_film_is_a_gif_with_every_step(tmp_path: Path) -> None:
    frames = []
    for step in range(5):
        changed = row()
        changed[at.STEP] = step
        changed[at.BOARD + 40 + step] = at.WOOD
        frames.append(draw.picture(changed))
    path = tmp_path / "deep" / "film.gif"
    films.write_film(path, frames, fps=10)
    with Image.open(path) as film:
        assert film.n_frames == 5
        assert film.info["duration"] == 100
        assert film.size == (352, 404)
        film.seek(4)
        last = np.asarray(film.convert("RGB")).astype(int)
    assert np.abs(last - frames[4]).mean() < 6


def test_a_film_is_an_mp4_that_looks_like_the_game(tmp_path: Path) -> None:
    frames = [draw.picture(row())] * 5
    films.write_film(tmp_path / "film.mp4", frames, fps=10)
    seen = [np.asarray(frame).astype(int) for frame in imageio.v2.mimread(tmp_path / "film.mp4")]
    assert len(seen) >= 5
    assert seen[0].shape == frames[0].shape
    assert np.abs(seen[0] - frames[0]).mean() < 8


def test_an_mp4_of_odd_size_is_written_in_silence(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    frames = [np.full((101, 50, 3), shade, np.uint8) for shade in (0, 90, 180)]
    films.write_film(tmp_path / "film.mp4", frames, fps=10)
    assert caplog.text == ""
    assert imageio.v2.mimread(tmp_path / "film.mp4")[0].shape == (104, 52, 3)


def test_what_is_no_film_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BackplayError, match=r"\.gif or \.mp4"):
        films.require_film(tmp_path / "film.avi")
    monkeypatch.setattr(films, "find_spec", lambda name: None)
    with pytest.raises(BackplayError, match="imageio"):
        films.require_film(tmp_path / "film.mp4")
    with pytest.raises(BackplayError, match="render_mode"):
        draw.render(row(), "human")
