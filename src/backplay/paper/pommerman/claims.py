"""What the paper says of Pommerman, as claims: Figures 3 and 4, section 4.3, appendices A.7, A.8.

Comes in: whose settings the runs have. Goes out: claims, as data, and the paper's per-map table.
Does not know: the jobs that answer them.

The rows of that table (24, 26, 6, 5 and 5 maps at 90 to 50 %) do not grow as the caption's "at
least" would have it, so they are read as maps between two shares: 66 of 100 are then won half of
the time or more. The caption says all of them. Both are claimed, each with its place.
"""

from __future__ import annotations

from functools import partial
from itertools import accumulate

from backplay.report.claims import Claim, Final, at_least, near

CLEARLY = 0.1  # a difference in wins that counts as one
FOUR = ((4, "winner"), (4, "runner-up"))
HUNDRED = ((100, "winner"),)
PAPERS_OWN = ", the paper's learner"

_TABLE = {"90%": 24, "80%": 26, "70%": 6, "60%": 5, "50%": 5}
PAPER_MAPS = dict(zip(_TABLE, accumulate(_TABLE.values()), strict=True))
"""Of 100 maps, how many the paper's agent won at least so often: its rows, added up."""
MAPS_WON = {
    f"winner, 100 maps, sparse{settings}": PAPER_MAPS for settings in ("", PAPERS_OWN)
}  # fmt: skip
"""The paper's table for the settings that it is about."""

WHY = {
    "absolute": ", absolute facts", "paper-learner": PAPERS_OWN,
    "paper-learner-absolute": f"{PAPERS_OWN}, absolute facts",
}  # fmt: skip
"""What is changed in our learner, by preset, and how the settings of such runs end."""


def why_claims() -> tuple[Claim, ...]:
    """Backplay before Standard, whatever is changed."""
    return tuple(
        _ahead(f"winner, 4 maps, sparse{settings}", "standard", "ours")
        for settings in ("", *WHY.values(), ", shielded")
    )


def imitation_claim() -> Claim:
    """What the paper's agent came to."""
    wins = Final("winner, 4 maps, sparse", "dagger", "success")
    text = "DAgger wins as often as one of four FSMTS agents"
    return near(text, "Appendix A.9", wins, 0.05, paper=0.2)


def four_claims(settings: str = "") -> list[Claim]:
    """On four maps with sparse rewards; `settings` ends the name of what runs are measured on."""
    setting = f"winner, 4 maps, sparse{settings}"
    return [
        at_least("Backplay wins most games against three FSMTS agents on 4 maps",
                 "Section 4.3, Figure 3b", Final(setting, "backplay", "success"), 0.5),
        *all_ahead(FOUR, "sparse", 3, settings),
        at_least("Standard learns not to use bombs, Backplay does not", "Appendix A.7",
                 Final(setting, "backplay", "bomb_share")
                 - Final(setting, "standard", "bomb_share"), 0.01),
    ]  # fmt: skip


def hundred_claims(settings: str = "") -> list[Claim]:
    """On 100 maps with sparse rewards."""
    of = partial(Final, f"winner, 100 maps, sparse{settings}", "backplay")
    return [
        *all_ahead(HUNDRED, "sparse", 3, settings),
        at_least("Backplay wins 80 % of the games on half of the maps",
                 "Appendix A.8, table (24 + 26 maps) and caption",
                 of("maps_won_80"), paper=PAPER_MAPS["80%"] / 100),
        at_least("Backplay wins half of the games on 66 of 100 maps",
                 "Appendix A.8, table, its rows added up",
                 of("maps_won_50"), paper=PAPER_MAPS["50%"] / 100),
        at_least("Backplay wins half of the games on every map",
                 "Appendix A.8, caption; the table has 66 of 100 maps",
                 of("least_won_map"), paper=0.5),
        at_least("Backplay wins 416 of 1,000 games on ten maps held out", "Section 4.3",
                 of("held_out_success"), paper=0.416),
    ]  # fmt: skip


def default_claims(sets: tuple[tuple[int, str], ...]) -> list[Claim]:
    """What the paper says of Backplay and we of the default curriculum, with sparse rewards."""
    claims = []
    for maps, who in sets:
        of = partial(Final, f"{who}, {maps} maps, sparse")
        least = 0.8 if who == "winner" else 0.65
        text = f"The default wins {least:.0%} of the games: {who}, {maps} maps"
        claims.append(at_least(text, "ours", of("default", "success"), least))
        claims += [
            at_least(f"The default wins more games than {words}: {who}, {maps} maps", "ours",
                     of("default", "success") - of(other, "success"), CLEARLY)
            for other, words in (("standard", "Standard"), ("uniform", "Uniform"))
        ]  # fmt: skip
    if sets == HUNDRED:
        claims += [
            at_least("The default wins 80 % of the games on half of the maps", "ours",
                     of("default", "maps_won_80"), paper=PAPER_MAPS["80%"] / 100),
            at_least("The default wins 416 of 1,000 games on ten maps held out", "ours",
                     of("default", "held_out_success"), paper=0.416),
        ]  # fmt: skip
    return claims


def all_ahead(
    sets: tuple[tuple[int, str], ...], rewards: str, figure: int, settings: str = ""
) -> list[Claim]:
    """Backplay before Standard and Uniform, in each part of a figure."""
    parts = {(100, "winner"): "a", (4, "winner"): "b", (4, "runner-up"): "c"}
    return [
        _ahead(f"{who}, {maps} maps, {rewards}{settings}", other, f"Figure {figure}{part}")
        for (maps, who), part in parts.items()
        if (maps, who) in sets
        for other in ("standard", "uniform")
    ]


def _ahead(setting: str, other: str, where: str) -> Claim:
    ahead = Final(setting, "backplay", "success") - Final(setting, other, "success")
    text = f"Backplay wins more games than {other.capitalize()}: {setting}"
    return at_least(text, where, ahead, CLEARLY)
