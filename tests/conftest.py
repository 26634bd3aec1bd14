"""The same on every run and on any machine, however it was started."""

import signal

from hypothesis import settings

# Property tests try the same examples every time.
settings.register_profile("fixed", derandomize=True, deadline=None, database=None)
settings.load_profile("fixed")


def pytest_configure() -> None:
    """Ctrl-C is tested, so it must mean something: what a shell starts behind `&` ignores it."""
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
