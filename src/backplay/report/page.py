"""One self-contained HTML page about a Comparison: no request to any host, light and dark.

Comes in: a Comparison. Goes out: the page as text. Does not know: how the results came about.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from html import escape
from importlib.resources import files

from backplay.report.charts import LEVELS, curves_svg, starts_svg
from backplay.report.results import Comparison, Summary, summarise


def write_page(comparison: Comparison) -> str:
    """The page."""
    rows = summarise(comparison)
    assets = files("backplay.report") / "assets"
    style = (assets / "page.css").read_text(encoding="utf-8")
    script = (assets / "page.js").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>backplay: {escape(comparison.env_id)} from one demonstration</title>
<style>
{style}
</style>
</head>
<body>
<main>
{_header(comparison, rows)}
{_episodes(comparison)}
<div class="pair">
{_curves(comparison)}
{_table(comparison, rows)}
</div>
{_starts(comparison)}
{_making(comparison)}
</main>
<script type="application/json" id="data">{_embedded(comparison)}</script>
<script>
{script}
</script>
</body>
</html>
"""


def _header(comparison: Comparison, rows: Sequence[Summary]) -> str:
    results = "".join(
        f'<li><b class="t{i}">{row.success:.0%}</b><span>{escape(row.regime)}</span></li>'
        for i, row in enumerate(rows)
    )
    return f"""<header>
<h1>{escape(comparison.env_id)} from one demonstration</h1>
<p>{escape(comparison.task)} The same learner, the same {comparison.frames:,} frames, the same
seeds: the regimes differ in nothing but <em>where training episodes start</em>.</p>
<p>Success from the true start after training:</p>
<ul class="results">{results}</ul>
</header>"""


def _episodes(comparison: Comparison) -> str:
    tracks = [("Demonstration", "demo")]
    tracks += [(regime, f"t{i}") for i, regime in enumerate(comparison.regimes)]
    figures = "\n".join(
        f'<figure><figcaption><b class="{css}">{escape(name)}</b> <span></span></figcaption>'
        f'<canvas data-track="{index}" aria-label="An episode: {escape(name)}"></canvas></figure>'
        for index, (name, css) in enumerate(tracks)
    )
    return f"""<section>
<h2>What they learned</h2>
<p>One episode each, from the demonstration's initial state, with sampled actions, by the agents
of seed {comparison.shown_run(comparison.regimes[0]).seed}.</p>
<div class="player"><button type="button" id="play">Pause</button>
<input type="range" id="time" min="0" value="0" aria-label="Step"><output id="clock"></output></div>
<div class="tracks">
{figures}
</div>
<noscript><p>The animation needs JavaScript.</p></noscript>
</section>"""


def _curves(comparison: Comparison) -> str:
    legend = "".join(
        f'<span class="t{i}">{escape(regime)}</span>' for i, regime in enumerate(comparison.regimes)
    )
    seeds = len(comparison.runs_of(comparison.regimes[0]))
    thin = f" Thin lines: each of {seeds} seeds; thick: their mean." if seeds > 1 else ""
    return f"""<section>
<h2>Success from the true start</h2>
<div class="legend">{legend}</div>
{curves_svg(comparison)}
<p class="readout" data-for="curves">Measured on the plain environment, without any
curriculum.{thin}</p>
</section>"""


def _table(comparison: Comparison, rows: Sequence[Summary]) -> str:
    episodes = sum(run.episodes for run in comparison.runs_of(rows[0].regime))
    body = "\n".join(
        f'<tr><th scope="row" class="t{i}">{escape(row.regime)}</th><td><b>{row.success:.0%}</b>'
        f" <small>[{100 * row.interval[0]:.0f}, {100 * row.interval[1]:.0f}]</small></td>"
        f"<td>{_or_never(row.frames_to_half)}</td><td>{_or_never(row.frames_to_most)}</td>"
        f'</tr>\n<tr class="seeds"><td colspan="4">by seed: '
        f"{' · '.join(f'{share:.0%}' for share in row.by_seed)};"
        f" {row.seconds:.0f} s a run</td></tr>"
        for i, row in enumerate(rows)
    )
    return f"""<section>
<h2>The table</h2>
<table>
<thead><tr><th scope="col">regime</th><th scope="col">success</th><th scope="col">to 50%</th>
<th scope="col">to 90%</th></tr></thead>
<tbody>
{body}
</tbody>
</table>
<p class="note">Success after {comparison.frames:,} frames, over {episodes} episodes from the true
start with sampled actions, and Wilson's 95% interval over these episodes; other seeds may differ,
so each seed is listed. To 50% and 90%: frames at the first evaluation that good, median over
seeds.</p>
</section>"""


def _starts(comparison: Comparison) -> str:
    maps = "\n".join(
        f'<figure><figcaption class="t{i}">{escape(regime)}</figcaption>\n'
        f"{starts_svg(comparison, regime)}</figure>"
        for i, regime in enumerate(comparison.regimes)
    )
    scale = "".join(f'<i class="k{level}"></i>' for level in range(LEVELS))
    return f"""<section>
<h2>Where episodes started, and whether they reached the goal</h2>
<p>Upwards: the step of the demonstration that an episode started from, 0 the true start,
{comparison.demo_length} the goal. Stronger: more of the episodes at that time.</p>
<div class="scale">reached the goal: never {scale} always</div>
<div class="maps">
{maps}
</div>
<p class="readout" data-for="starts">Point at a cell to read it.</p>
</section>"""


def _making(comparison: Comparison) -> str:
    return f"""<section class="making">
<h2>How this was made</h2>
<p>In {comparison.seconds:.0f} seconds, by</p>
<pre>{escape(comparison.command)}</pre>
{_pairs(comparison.settings)}
{_pairs(comparison.versions)}
</section>"""


def _pairs(pairs: Mapping[str, str]) -> str:
    items = "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(text)}</dd></div>" for name, text in pairs.items()
    )
    return f"<dl>{items}</dl>" if items else ""


def _embedded(comparison: Comparison) -> str:
    """What the script needs, as JSON that cannot end its element."""
    shown = [comparison.shown_run(regime) for regime in comparison.regimes]
    tracks = [{"positions": comparison.demo_positions, "reached": True}]
    tracks += [{"positions": run.positions, "reached": run.reached_goal} for run in shown]
    curves = []
    starts = {}
    for regime in comparison.regimes:
        frames, success = comparison.mean_curve(regime)
        curves.append({"regime": regime, "frames": frames, "success": _rounded(success)})
        episodes, successes = comparison.start_counts(regime)
        starts[regime] = {
            "episodes": episodes.astype(int).tolist(),
            "successes": successes.astype(int).tolist(),
        }
    for track in tracks:
        track["positions"] = _rounded(track["positions"])  # type: ignore[arg-type]  # a list there
    data = {
        "frames": comparison.frames,
        "demoLength": comparison.demo_length,
        "tracks": tracks,
        "curves": curves,
        "starts": starts,
    }
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _rounded(values: Sequence[float]) -> list[float]:
    return [round(value, 4) for value in values]


def _or_never(frames: int | None) -> str:
    return "never" if frames is None else f"{round(frames / 1000)}k"
