"""A slim core: what `import backplay` brings, and one clear line for what is not installed."""

import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import backplay as bp
from backplay import cli, extras
from test_architecture import FILES, STANDARD_LIBRARY, imports_of

ROOT = Path(__file__).parent.parent
NAMES = {"PIL": "pillow", "ale_py": "ale-py", "highway_env": "highway-env"}
HEAVY = ("torch", "numba", "scipy", "matplotlib", "networkx", "PIL", "rich", "tyro", "minari")


def in_a_new_process(program: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_importing_backplay_and_using_its_core_imports_no_extra() -> None:
    """Recording, checking, wrapping and making curricula too: that is what the core is."""
    program = f"""
import sys
import gymnasium as gym
import backplay as bp
env = gym.make("MountainCar-v0")
demo = bp.record(env, lambda seen: 2 if seen[1] >= 0 else 0, seed=3)
assert bp.check(env, demo).exact
env = bp.BackplayEnv(env, [demo])
env.reset(seed=0)
env.step(0)
bp.advance(env, env.curriculum, 10)
bp.check_curriculum(bp.Uniform())
assert "Backplay/Maze-v0" in gym.registry
assert callable(bp.train) and callable(bp.evaluate) and callable(bp.advise)
print([name for name in {HEAVY} if name in sys.modules])
"""
    assert in_a_new_process(program) == "[]"


def test_the_verbs_stay_verbs_whatever_is_imported() -> None:
    """`backplay.train` and `backplay.advise` are packages, too."""
    program = """
import backplay.train.loop, backplay.advise.advice
import backplay as bp
import inspect
print(inspect.isfunction(bp.train), inspect.isfunction(bp.advise))
"""
    assert in_a_new_process(program) == "True True"


def test_every_public_name_is_there() -> None:
    assert len(bp.__all__) <= 24
    for name in bp.__all__:
        assert getattr(bp, name) is not None
    assert bp.minari.__name__ == "backplay.integrations.minari"
    assert bp.sb3.__name__ == "backplay.integrations.sb3"
    with pytest.raises(AttributeError, match="no attribute 'RESTORERS'"):
        _ = bp.RESTORERS


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes packages look as if they were not installed."""

    def hide(*names: str) -> None:
        def find(name: str, *more: Any) -> Any:
            return None if name in names else find_spec(name, *more)

        monkeypatch.setattr(extras, "find_spec", find)

    return hide


@pytest.mark.parametrize(
    ("package", "extra", "call"),
    [
        ("torch", "train", lambda: bp.train(lambda: None, [], frames=1)),
        ("numba", "paper", lambda: bp.advise(lambda: None, None)),
    ],
)
def test_a_missing_extra_is_named(without: Any, package: str, extra: str, call: Any) -> None:
    without(package)
    with pytest.raises(bp.BackplayError) as caught:
        call()
    said = str(caught.value)
    assert said == f'{package} is not installed. Install it: pip install "backplay[{extra}]".'


def test_a_command_without_its_extra_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "tyro", None)  # importing it raises ModuleNotFoundError
    monkeypatch.delitem(sys.modules, "backplay.cli.check", raising=False)
    monkeypatch.delitem(sys.modules, "backplay.cli.options", raising=False)
    assert cli.main(["check", "MountainCar-v0", "demo.npz"]) == 2
    said = capsys.readouterr().err
    assert said == 'backplay: tyro is not installed. Install it: pip install "backplay[cli]".\n'


def test_the_core_needs_numpy_and_gymnasium_alone() -> None:
    assert [name.partition(">")[0] for name in project()["dependencies"]] == ["gymnasium", "numpy"]


def test_every_package_that_the_source_imports_has_an_extra_that_brings_it() -> None:
    offered = project()["optional-dependencies"]
    imported = {module.partition(".")[0] for path in FILES for module in imports_of(path)}
    beyond = imported - STANDARD_LIBRARY - {"backplay", "numpy", "gymnasium"}
    assert beyond <= extras.EXTRAS.keys()
    for package, extra in extras.EXTRAS.items():
        name = NAMES.get(package, package.replace("_", "-"))
        assert any(need.startswith(name) for need in offered[extra]), (package, extra)


def test_all_has_every_extra_but_those_for_developers() -> None:
    offered = project()["optional-dependencies"]
    inside = set(offered["all"][0].removeprefix("backplay[").removesuffix("]").split(","))
    for_developers = {"dev", "docs", "recipes", "zoo"}
    assert inside | {"cli", "train", "all"} | for_developers == offered.keys()


def project() -> dict[str, Any]:
    whole: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())
    found: dict[str, Any] = whole["project"]
    return found


def test_without_minari_the_error_names_the_extra() -> None:
    """In a process where minari cannot be imported: backplay can, and says what to install."""
    program = (
        "import sys; sys.modules['minari'] = None\n"
        "import importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *a: None if name == 'minari' else real(name, *a)\n"
        "import backplay as bp\n"
        "try: bp.minari\n"
        "except bp.BackplayError as error: print(error)\n"
    )
    assert 'pip install "backplay[minari]"' in in_a_new_process(program)
