"""Strategies for curricula and a look at their windows, shared by the tests of this folder."""

from hypothesis import strategies as st

from backplay.curricula import (
    Backplay,
    Frontier,
    Patience,
    Staircase,
    Standard,
    TrueStarts,
    Uniform,
    Until,
    Waiting,
    Window,
)
from backplay.curricula.frontier import FrontierState

frames = st.integers(0, 2**53)
mean_steps = st.floats(1.0, 10_000.0)


@st.composite
def backplays(draw: st.DrawFn) -> Backplay:
    """Any valid Backplay: steps or fractions, any clock."""
    of_length = draw(st.booleans())
    bound = st.floats(0.0, 1.0) if of_length else st.integers(0, 2**53) | st.integers(0, 600)
    opened = draw(st.sets(st.integers(1, 10_000), max_size=5))
    windows = []
    for frame in (0, *sorted(opened)):
        lo, hi = sorted((draw(bound), draw(bound)))
        windows.append(Window(frame, lo, hi))
    clock = draw(st.integers(0, 12_000) | frames)
    return Backplay(tuple(windows), of_length=of_length, frames=clock)


frontiers = st.builds(
    Frontier,
    start_share=st.floats(0.0, 1.0),
    state=st.builds(
        FrontierState,
        frames=frames,
        episodes=st.lists(
            st.lists(st.integers(-300, 300).filter(bool), max_size=20).map(tuple), max_size=3
        ).map(tuple),
        lengths=st.tuples(mean_steps, mean_steps),
        costs=st.booleans(),
    ),
)
staircases = st.builds(Staircase, target=st.floats(0.1, 0.9))
plain = st.one_of(st.just(Standard()), st.just(Uniform()), backplays(), frontiers, staircases)
curricula = st.one_of(
    plain,
    st.builds(Until, plain, at=frames, frames=frames),
    st.builds(TrueStarts, plain, share=st.floats(0.0, 1.0), by_frames=st.booleans()),
    st.builds(Patience, plain, times=st.floats(1.0, 9.0)),
    st.builds(Waiting, backplays(), recent=st.lists(st.booleans(), max_size=100).map(tuple)),
)


def as_table(curriculum: Backplay) -> list[tuple[int, float, float]]:
    return [(window.frames, window.lo, window.hi) for window in curriculum.windows]
