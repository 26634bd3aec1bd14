"""Strategies for curricula and a look at their windows, shared by the tests of this folder."""

from hypothesis import strategies as st

from backplay.curricula import Backplay, Standard, Uniform, Window

frames = st.integers(0, 2**53)
mean_steps = st.floats(1.0, 10_000.0)


@st.composite
def backplays(draw: st.DrawFn) -> Backplay:
    """Any valid Backplay: steps or fractions, any shares, any clock."""
    of_length = draw(st.booleans())
    bound = st.floats(0.0, 1.0) if of_length else st.integers(0, 2**53) | st.integers(0, 600)
    opened = draw(st.sets(st.integers(1, 10_000), max_size=5))
    windows = []
    for frame in (0, *sorted(opened)):
        lo, hi = sorted((draw(bound), draw(bound)))
        windows.append(Window(frame, lo, hi))
    start_share = draw(st.floats(0.0, 1.0))
    clock = draw(st.integers(0, 12_000) | frames)
    return Backplay(
        tuple(windows),
        of_length=of_length,
        start_share=start_share,
        by_frames=draw(st.booleans()),
        uniform_share=draw(st.floats(0.0, 1.0 - start_share)),
        mastery=draw(st.just(0.0) | st.floats(0.0, 1.0)),
        latest=draw(st.none() | st.floats(1.0, 4.0)),
        bridge=draw(st.floats(0.0, 1.0)),
        if_silent=draw(st.booleans()),
        cut=draw(st.none() | st.floats(1.0, 9.0)),
        frames=clock,
        held=draw(st.integers(0, clock)),
        recent=tuple(draw(st.lists(st.booleans(), max_size=100))),
        lengths=(draw(st.just(0.0) | mean_steps), draw(st.just(0.0) | mean_steps)),
    )


curricula = st.one_of(
    st.just(Standard()),
    st.builds(Uniform, until=st.none() | frames, frames=frames),
    backplays(),
)


def as_table(curriculum: Backplay) -> list[tuple[int, float, float]]:
    return [(window.frames, window.lo, window.hi) for window in curriculum.windows]
