"""Figures and tables of the studies, from made-up data."""

from typing import Any

from backplay.paper.theory.exhibit import findings_table, study_figure
from backplay.paper.theory.job import TheoryJob
from backplay.report.exhibit import Exhibit
from backplay.report.figures import as_png
from made_up_records import record


def series(name: str, style: str = "line", **more: Any) -> dict[str, Any]:
    plain = {"name": name, "x": [1.0, 2.0, 4.0], "y": [1.0, None, 9.0], "style": style}
    return {**plain, "low": None, "high": None, **more}


def made_up(name: str = "trials", panels: int = 2) -> dict[str, Any]:
    lines = [
        series("Uniform"),
        series("Uniform, simulated", "dots", low=[0.5, 1.0, 8.0], high=[2.0, 3.0, 10.0]),
        series("claimed", "dashes"),
    ]
    axes = {"x_name": "M", "y_name": "trials", "series": lines, "log_x": True}
    axes = {**axes, "log_y": True, "x_labels": None}
    finding = {"claim": "a < b", "where": "M = 3", "predicted": 1.0, "measured": None}
    return {
        "name": name, "title": f"About {name} & more", "words": "Lines <are> exact.",
        "panels": [{"title": f"panel {i}", **axes} for i in range(panels)],
        "tables": [{"title": "T", "head": ["m", "x"], "rows": [["1", "2.5e3"], ["2", "<b>"]]}],
        "findings": [{**finding, "low": 0.0001, "high": 2.34567, "verdict": "fails"}],
    }  # fmt: skip


def draw(study: dict[str, Any]) -> bytes:
    return as_png(study_figure(study))


def test_figures_are_as_wide_as_their_panels_and_always_the_same() -> None:
    one, three = draw(made_up(panels=1)), draw(made_up(panels=3))
    assert int.from_bytes(three[16:20], "big") > 2 * int.from_bytes(one[16:20], "big")
    assert draw(made_up(panels=3)) == three
    assert study_figure(made_up(panels=0)) is None


def test_a_picture_shows_its_numbers() -> None:
    other = made_up()
    other["panels"][0]["series"][1]["y"][2] = 3.0
    assert draw(other) != draw(made_up())


def test_places_without_a_number_have_names() -> None:
    named = made_up(panels=1)
    named["panels"][0] |= {"log_x": False, "x_labels": ["Standard", "Uniform"]}
    other = made_up(panels=1)
    other["panels"][0] |= {"log_x": False, "x_labels": ["Standard", "Backplay"]}
    assert draw(named) != draw(other)


def test_a_series_without_points_is_left_out() -> None:
    study = made_up(panels=1)
    study["panels"][0]["series"][1] = series("Uniform, simulated", "dots", x=[], y=[])
    assert draw(study)


def test_the_table_has_a_row_for_each_finding() -> None:
    head, *rows = findings_table([made_up(), made_up("gap")])
    assert head == ("claim", "case", "predicted", "measured", "interval", "verdict")
    assert rows == [("a < b", "M = 3", "1", "inf", "[0, 2.35]", "fails")] * 2


def test_runs_of_studies_exhibit_panels_words_and_tables_of_their_first_seed() -> None:
    other = made_up("gap", panels=0)
    runs = [
        record(seed, kind="theory", setting=study["name"], result={"study": study})
        for study in (made_up(), other)
        for seed in (0, 1)
    ]
    shown = TheoryJob.exhibit([*runs, record(2, None, kind="theory")])
    assert list(shown.figures) == ["About trials & more"]
    assert shown.words["About trials & more"] == "Lines <are> exact."
    assert [table.title for table in shown.tables] == [
        "Predicted and measured", "About trials & more: T", "About gap & more: T",
    ]  # fmt: skip
    assert len(shown.tables[0].cells) == 3
    assert shown.tables[1].cells[1:] == [["1", "2.5e3"], ["2", "<b>"]]
    assert TheoryJob.exhibit([]) == Exhibit()
