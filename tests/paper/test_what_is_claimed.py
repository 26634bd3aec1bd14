"""Claims say what is measured, and put nothing into the paper's mouth."""

from __future__ import annotations

import re

import pytest

from backplay.paper.catalogue import experiments
from backplay.paper.experiment import Experiment
from backplay.paper.maze.job import MazeJob
from backplay.paper.pommerman.claims import MAPS_WON, PAPER_MAPS
from backplay.paper.pommerman.job import IMITATING, PommermanJob
from backplay.report.claims import Claim, Difference, Final, Ratio

EXPERIMENTS = {one.name: one for one in experiments()}
CLAIMS = [(name, claim) for name, one in EXPERIMENTS.items() for claim in one.claims]
COMPARED = re.compile(r"faster|sooner|fewer frames|more frames|fewer extra steps|more often")


def has_no_margin(claim: Claim) -> bool:
    """Whether a tie would be on the target."""
    if isinstance(claim.quantity, Ratio | Difference):
        return claim.aim == (1.0 if isinstance(claim.quantity, Ratio) else 0.0)
    return isinstance(claim.quantity, Final)


THE_PAPERS = [
    one for one in CLAIMS if one[1].paper is not None and not one[1].where.startswith("ours")
]
COMPARING = [one for one in CLAIMS if COMPARED.search(one[1].text) and has_no_margin(one[1])]


def each(chosen: list[tuple[str, Claim]]) -> pytest.MarkDecorator:
    """A case for each of these claims."""
    names = [f"{name}-{i}" for i, (name, _) in enumerate(chosen)]
    return pytest.mark.parametrize("claim", [claim for _, claim in chosen], ids=names)


def claims(name: str, words: str) -> list[Claim]:
    return [claim for claim in EXPERIMENTS[name].claims if words in claim.text]


@each(THE_PAPERS)
def test_the_papers_own_numbers_do_not_refute_its_claims(claim: Claim) -> None:
    assert claim.paper is not None
    assert claim.is_true_of(claim.paper, claim.paper)


@each(COMPARING)
def test_a_tie_is_not_faster(claim: Claim) -> None:
    assert claim.strict
    assert not claim.is_true_of(claim.aim, claim.aim)


def test_some_claims_compare() -> None:
    assert len(THE_PAPERS) >= 40
    assert len(COMPARING) >= 9
    assert sum(claim.strict for _, claim in CLAIMS) >= 9
    assert not any(claim.strict for _, claim in CLAIMS if "as soon as" in claim.text)


def test_what_a_demonstrator_wastes() -> None:
    found = {claim.quantity: claim for claim in claims("maze-table", "fewer extra steps")}
    five = found[Final("5-Optimal", "backplay", "extra_mean")]
    ten = found[Final("10-Optimal", "backplay", "extra_mean")]
    assert (five.paper, five.aim) == (7.94, 5.0)
    assert five.where.startswith("ours")
    assert "the paper's own agents need more" in five.text
    assert (ten.paper, ten.aim, ten.where) == (0.37, 10.0, "Table 2, caption")


def test_no_number_where_the_paper_has_words() -> None:
    new = claims("maze-new", "ten new mazes")
    assert len(new) == 4
    assert all(claim.paper is None for claim in new)
    (uniform,) = claims("maze-curves", "sooner than Uniform")
    assert uniform.paper is None
    assert not any("3,000" in claim.text for claim in EXPERIMENTS["maze-curves"].claims)


def test_the_per_map_table_is_read_as_maps_between_shares() -> None:
    assert PAPER_MAPS == {"90%": 24, "80%": 50, "70%": 56, "60%": 61, "50%": 66}
    for name, settings in (("pommerman-100", ""), ("pommerman-paper", ", the paper's learner")):
        assert MAPS_WON[f"winner, 100 maps, sparse{settings}"] == PAPER_MAPS
        (half,) = claims(name, "on 66 of 100 maps")
        assert (half.paper, "added up" in half.where) == (0.66, True)
        (every,) = claims(name, "on every map")
        assert "caption" in every.where
        assert "66" in every.where


def test_what_rcg_is_said_to_do_is_what_is_measured() -> None:
    assert not claims("grid-worlds", "chamber")
    (claim,) = claims("grid-worlds", "RCG needs more frames than Backplay behind bottlenecks")
    assert isinstance(claim.quantity, Ratio)


def ours_for_the_papers(experiment: Experiment) -> list[MazeJob | PommermanJob]:
    """Jobs with settings of ours where a table or a figure of the paper is made."""
    jobs = [] if experiment.where == "ours" else experiment.jobs(experiment.scale, 1)
    found = [
        job for job in jobs if isinstance(job, MazeJob | PommermanJob) and job.preset == "ours"
    ]
    if any(isinstance(job, PommermanJob) and job.regime in IMITATING for job in found):
        return []  # of these the paper has a sentence, and no frames
    return found


@pytest.mark.parametrize(
    "experiment",
    [one for one in EXPERIMENTS.values() if ours_for_the_papers(one)],
    ids=lambda one: one.name,
)
def test_pages_say_whose_learner_and_frames(experiment: Experiment) -> None:
    maze = isinstance(ours_for_the_papers(experiment)[0], MazeJob)
    other = "maze-paper" if maze else "pommerman-paper"
    assert f" {other}." in experiment.about
    assert "ours" in experiment.about
    share = {0.05: "twentieth of", 0.2: "a fifth of", 0.4: "two fifths of", 0.6: "three fifths of",
             1.0: "as many frames as the paper's"}  # fmt: skip
    assert share[experiment.scale] in experiment.about
    assert (experiment.scale in (0.05, 1.0)) == maze


def test_the_page_of_imitation_says_whose_network_and_how_many_frames() -> None:
    experiment = EXPERIMENTS["pommerman-imitation"]
    assert "The network is ours" in experiment.about
    assert "two million frames" in experiment.about
    frames = {job.frames for job in experiment.jobs(experiment.scale, 1)}
    assert frames == {2_048_000}


def test_the_papers_settings_are_said_to_be_its_own() -> None:
    about = EXPERIMENTS["maze-paper"].about
    assert re.search("etwork, learner.* windows.* are\\s+the paper's", about)
    about = EXPERIMENTS["pommerman-paper"].about
    assert re.search("learning rate, windows and frames are the paper's", about)
    assert "the network is ours" in about


def test_the_curves_say_how_long_the_papers_are() -> None:
    about = EXPERIMENTS["maze-curves"].about
    assert "3,500 epochs" in about
    assert "2,000 epochs" in about


@pytest.mark.parametrize("scale", [0.05, 0.01, 0.1, 0.0005])
def test_budgets_are_named_by_the_frames_that_are_run(scale: float) -> None:
    jobs = EXPERIMENTS["maze-budget"].jobs(scale, 1)
    for job in jobs:
        assert isinstance(job, MazeJob)
        number, *unit = job.setting.removeprefix("Optimal, ").split()
        frames = float(number.replace(",", "")) * (1e6 if unit == ["million", "frames"] else 1)
        assert frames == pytest.approx(job.frames, rel=1e-3)
        assert job.effort == 1.0
    (claim,) = EXPERIMENTS["maze-budget"].claims
    assert isinstance(claim.quantity, Final)
    answering = {job.frames for job in jobs if job.setting == claim.quantity.setting}
    assert answering == ({2_000_000} if scale == 0.05 else set())
    assert claim.text.startswith("2 million frames")


def test_only_simulated_numbers_of_the_theory_need_seeds() -> None:
    by_chance = [claim for claim in EXPERIMENTS["theory"].claims if not claim.exact]
    assert [claim.quantity.setting for claim in by_chance if isinstance(claim.quantity, Final)] == [
        "trees"
    ]
