"""What the paper says of the Maze, as claims: Table 2, section 4.2, the captions of appendix A.4.

Comes in: nothing. Goes out: claims, as data. Does not know: the jobs that answer them.
"""

from __future__ import annotations

from backplay.paper.maze.job import PAPER, PAPER_EPOCHS
from backplay.report.claims import Claim, Final, FramesTo, at_least, at_most, near

REGIMES = ("backplay", "uniform", "florensa", "standard")
SETTINGS = {0: "Optimal", 5: "5-Optimal", 10: "10-Optimal"}
_SETTINGS_OF_PAPER = "the paper's settings"
PAPERS_OWN = f"Optimal, {_SETTINGS_OF_PAPER}"
NEW_MAZES = 20_000
NEVER_TWICE = f"Optimal, {NEW_MAZES} mazes"


ENOUGH_FRAMES = 2_000_000


def budget(frames: int) -> str:
    """What sets runs with a budget apart: the frames that they have."""
    return f"{frames / 1e6:.4g} million frames" if frames >= 100_000 else f"{frames:,} frames"


def table_claims() -> list[Claim]:
    """What Table 2 says of each set, and what its caption and section 4.2 conclude."""
    found = []
    for extra, setting in SETTINGS.items():
        for regime in ("backplay", "uniform"):
            row, who = PAPER[regime, extra], regime.capitalize()
            optimal, close = row["optimal"], row["within_5"]
            assert optimal is not None
            assert close is not None
            found += [
                at_least(f"{who} finds a shortest path in {optimal:.0%} of the {setting} mazes",
                         "Table 2", Final(setting, regime, "optimal"), paper=optimal),
                at_least(f"{who} comes within 5 steps of it in {close:.0%} of the {setting} mazes",
                         "Table 2", Final(setting, regime, "within_5"), round(close - 0.05, 2),
                         paper=close),
            ]  # fmt: skip
        found += [_behind_florensa(extra, setting), _standard_fails(setting)]
        found += [_surpasses(extra, setting)] if extra else []
    return found


def _behind_florensa(extra: int, setting: str) -> Claim:
    ours, theirs = PAPER["backplay", extra]["within_5"], PAPER["florensa", extra]["within_5"]
    assert ours is not None
    assert theirs is not None
    return at_least(
        f"Florensa's curriculum reaches fewer of the {setting} mazes than Backplay",
        "Table 2, section 4.2",
        Final(setting, "backplay", "within_5") - Final(setting, "florensa", "within_5"),
        0.1, paper=round(ours - theirs, 2),
    )  # fmt: skip


def _standard_fails(setting: str) -> Claim:
    text = f"Standard comes within 5 steps of a shortest path in none of the {setting} mazes"
    return at_most(text, "Table 2", Final(setting, "standard", "within_5"), 0.05, paper=0.0)


def _surpasses(extra: int, setting: str) -> Claim:
    """The caption says it of all sets; of 5-Optimal the table itself says otherwise."""
    theirs = PAPER["backplay", extra]["extra_mean"]
    assert theirs is not None
    agrees = theirs < extra
    text = f"Backplay needs fewer extra steps than its {setting} demonstrations, {extra} each"
    return at_most(
        text if agrees else f"{text}; the paper's own agents need more",
        "Table 2, caption" if agrees else "ours; Table 2 has the paper's number",
        Final(setting, "backplay", "extra_mean"), float(extra), paper=theirs, strict=True,
    )  # fmt: skip


def curve_claims() -> list[Claim]:
    """What the captions of the learning curves (appendix A.4) say, as far as 2,000 epochs show it.

    The paper's curves go on to epoch 3,500; that Uniform needs 3,000 is beyond runs of 2,000.
    """
    first, second, third = (f"Appendix A.4, {one} figure" for one in ("first", "second", "third"))

    def end(setting: str, regime: str) -> Final:
        return Final(setting, regime, "sampled_success")

    def to_90(setting: str, regime: str) -> FramesTo:
        return FramesTo(setting, regime, "sampled_success", 0.9)

    return [
        at_least("Backplay succeeds almost everywhere on the Optimal mazes", first,
                 end("Optimal", "backplay"), 0.95),
        at_least("Backplay reaches 90 % of the Optimal mazes sooner than Uniform", first,
                 to_90("Optimal", "uniform") / to_90("Optimal", "backplay"), 1.0, strict=True),
        at_most("Florensa's curriculum ends with at most 70 % of the Optimal mazes", first,
                end("Optimal", "florensa"), paper=0.7),
        at_least("Backplay needs fewer frames than Uniform for 90 % of the 5-Optimal mazes", second,
                 to_90("5-Optimal", "uniform") / to_90("5-Optimal", "backplay"), 1.0, strict=True),
        near("Uniform is an able competitor on the 10-Optimal mazes", third,
             end("10-Optimal", "uniform") - end("10-Optimal", "backplay"), 0.1, target=0.0),
        *(
            at_least(f"Backplay does better than Florensa's curriculum on the {setting} mazes",
                     where, end(setting, "backplay") - end(setting, "florensa"), 0.1)
            for setting, where in (("5-Optimal", second), ("10-Optimal", third))
        ),
    ]  # fmt: skip


def cloning_claims() -> list[Claim]:
    """What section 4.2 says of imitation."""
    where = "Section 4.2, Behavioral Cloning"
    return [
        at_least("Cloning walks every demonstration", where,
                 Final("Optimal", "cloned", "success"), 0.99, paper=1.0),
        *(
            at_least(f"{who} does no better than its demonstrations, which waste 5 steps", where,
                     Final("5-Optimal", regime, "extra_mean"), 5.0)
            for regime, who in (
                ("cloned+ppo", "PPO from the cloned network"), ("kickstarted", "Kickstarting"),
            )
        ),
    ]  # fmt: skip


def new_claims() -> list[Claim]:
    """What it says of mazes never seen: in words alone, that no approach generalised."""
    return [
        *(
            at_most(f"{regime.capitalize()} does not find its way in ten new mazes",
                    "Section 4.3, last paragraph",
                    Final("Optimal", regime, "held_out_success"), 0.05)
            for regime in REGIMES
        ),
        at_most("Backplay does not learn where hardly any maze comes twice", "ours",
                Final(NEVER_TWICE, "backplay", "success"), 0.05),
    ]  # fmt: skip


def paper_claims() -> list[Claim]:
    """Table 2 and the captions of appendix A.4 with the paper's own settings."""
    found = [_paper_row(extra, regime, measure) for extra, regime, measure in _PAPER_ROWS]
    return [*found, *_paper_curves()]


_PAPER_ROWS = [
    (extra, regime, measure)
    for extra in SETTINGS
    for regime in REGIMES[: 3 if extra else 4]
    for measure in ("optimal", "within_5")
]


def _paper_row(extra: int, regime: str, measure: str) -> Claim:
    """A cell of Table 2: of Florensa's curriculum as in the paper, of demonstrations' at least."""
    paper = PAPER[regime, extra][measure]
    assert paper is not None
    words = "finds a shortest path in" if measure == "optimal" else "comes within 5 steps of it in"
    text = f"{regime.capitalize()} {words} {paper:.0%} of the {SETTINGS[extra]} mazes"
    quantity = Final(f"{SETTINGS[extra]}, {_SETTINGS_OF_PAPER}", regime, measure)
    if regime in ("florensa", "standard"):
        return near(text, "Table 2", quantity, 0.1, paper=paper)
    target = round(paper - 0.05, 2) if measure == "within_5" else None
    return at_least(text, "Table 2", quantity, target, paper=paper)


def _paper_curves() -> list[Claim]:
    """Epochs are the paper's; those of a shorter run are as many, each of fewer frames."""
    success, where = "sampled_success", "Appendix A.4, first figure"
    return [
        at_most("Backplay has 90 % of the Optimal mazes as early as epoch 1,800", where,
                FramesTo(PAPERS_OWN, "backplay", success, 0.9, PAPER_EPOCHS), paper=1_800),
        at_least("Florensa's curriculum never breaks 70 % of the Optimal mazes", where,
                 FramesTo(PAPERS_OWN, "florensa", success, 0.7, PAPER_EPOCHS), paper=PAPER_EPOCHS),
        at_least("Uniform does not have 90 % of the Optimal mazes before epoch 2,000", where,
                 FramesTo(PAPERS_OWN, "uniform", success, 0.9, PAPER_EPOCHS), PAPER_EPOCHS,
                 paper=3_000),
    ]  # fmt: skip


BUDGET_CLAIM = at_least(
    "2 million frames, less than a hundredth of the paper's, are enough for Backplay to reach"
    " 95 % of the goals", "ours",
    Final(f"Optimal, {budget(ENOUGH_FRAMES)}", "backplay", "success"), 0.95,
)  # fmt: skip

DEFAULT_FRAMES = 1_280_000
FEW = "few frames"
_DEFAULT = f"Optimal, set 1, {FEW}"


def default_claims() -> list[Claim]:
    """What the default curriculum should be good for."""
    to_95 = FramesTo(_DEFAULT, "default", "sampled_success", 0.95)
    return [
        at_most("the default reaches 95 % of the goals within a million frames", "ours", to_95,
                1_000_000),
        *(
            at_most(f"the default needs at most half of the frames of {words} to 95 %", "ours",
                    to_95 / FramesTo(_DEFAULT, regime, "sampled_success", 0.95), 0.5)
            for regime, words in (("uniform", "Uniform"), ("backplay", "our windows"))
        ),
    ]  # fmt: skip


FAR = "all frames"


def far_claims() -> list[Claim]:
    """Table 2 again: the paper's number where it is of its own Backplay, ours as the target."""
    words = {"optimal": "finds a shortest path in", "within_5": "comes within 5 steps of it in"}
    return [
        at_least(f"the default {words[measure]} at least as many of the {setting} mazes", "Table 2",
                 Final(f"{setting}, {FAR}", "default", measure),
                 paper=PAPER["backplay", extra][measure])
        for extra, setting in SETTINGS.items()
        for measure in words
    ]  # fmt: skip
