"""Who is refused: no token, another host or origin, a path outside, too much, hostile files."""

import http.client
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from serving import Served, serve
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

import backplay as bp


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("studio")
    (root / "inside").mkdir()
    env = gym.make("FrozenLake-v1", is_slippery=False)
    bp.record(env, [2, 2, 1, 1, 1, 2]).save(root / "inside" / "lake.npz")
    bp.record(env, [2, 2]).save(root / "outside.npz")
    (root / "inside" / "link.npz").symlink_to(root / "outside.npz")
    return root / "inside"


@pytest.fixture(scope="module")
def studio(folder: Path) -> Iterator[Served]:
    with serve(folder) as served:
        yield served


def ask(
    studio: Served,
    path: str,
    *,
    method: str = "GET",
    token: str | None = None,
    body: Any = None,
    **headers: str,
) -> tuple[int, str, dict[str, str]]:
    """The answer to a request with the token, unless another is given."""
    line = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=30)
    sent = {"Authorization": f"Bearer {studio.token if token is None else token}", **headers}
    line.request(method, path, body, {name.replace("_", "-"): v for name, v in sent.items()})
    answer = line.getresponse()
    return answer.status, answer.read().decode(errors="replace"), dict(answer.getheaders())


PATHS = ["/", "/pages/studio.js", "/api/home", "/api/demo?name=lake.npz", "/nowhere"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("token", ["", "wrong", "é"])
def test_without_the_token_nothing_is_told(studio: Served, path: str, token: str) -> None:
    token = token.encode().decode("latin-1")
    status, words, headers = ask(studio, path, token=token)
    assert status == 403
    assert "token" in words
    assert "Set-Cookie" not in headers
    assert studio.token not in words


def test_the_token_in_the_address_opens_the_page_and_only_the_page(studio: Served) -> None:
    status, _, headers = ask(studio, f"/?token={studio.token}", Authorization="")
    assert status == 200
    kept = headers["set-cookie"]
    assert "HttpOnly" in kept
    assert "SameSite=Strict" in kept
    assert ask(studio, f"/api/home?token={studio.token}", Authorization="")[0] == 403
    cookie = kept.split(";")[0]
    assert ask(studio, "/api/home", Authorization="", Cookie=cookie)[0] == 200
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("path", ["/", "/api/home"])
def test_another_host_or_origin_is_refused(studio: Served, path: str) -> None:
    for host in ("evil.example", "127.0.0.1", f"evil.example:{studio.port}", ""):
        assert ask(studio, path, Host=host)[0] in (400, 403)
    for origin in ("http://evil.example", "null", f"https://127.0.0.1:{studio.port}"):
        assert ask(studio, path, Origin=origin)[0] == 403
    assert ask(studio, path, Origin=studio.origin)[0] == 200
    assert ask(studio, path, Host=f"localhost:{studio.port}")[0] == 200


def test_a_socket_needs_the_token_and_the_origin_too(studio: Served) -> None:
    address = f"ws://127.0.0.1:{studio.port}/recording"
    good = {"Authorization": f"Bearer {studio.token}"}
    for headers in ({}, {"Authorization": "Bearer no"}, {**good, "Origin": "http://evil.example"}):
        with pytest.raises(InvalidStatus) as refused:
            connect(address, additional_headers=headers)
        assert refused.value.response.status_code == 403
    studio.desk.record({"env": "FrozenLake-v1", "env_kwargs": {"is_slippery": False}})
    with connect(address, additional_headers={**good, "Origin": studio.origin}) as line:
        told = line.recv(timeout=10)
        assert isinstance(told, bytes)
        assert b'"role": "plays"' in told
        line.send("{")  # no JSON: this window is closed, the recording stays
    assert studio.desk.stage is not None
    studio.desk.end_recording()


@pytest.mark.parametrize(
    "name",
    [
        "../outside.npz",
        "/etc/passwd",
        "link.npz",
        "..",
        "",
        "a/../../outside.npz",
        "%00",
        "nowhere",
    ],
)
@pytest.mark.parametrize("path", ["demo", "demo/file", "demo/picture", "demo/film"])
def test_nothing_outside_the_folder_is_read(studio: Served, path: str, name: str) -> None:
    status, words, _ = ask(studio, f"/api/{path}?step=0&kind=gif&name={name}")
    assert status == 400
    assert "error" in json.loads(words)


@pytest.mark.parametrize(
    "path", ["/pages/../server.py", "/pages/%2e%2e/server.py", "/pages//etc/passwd"]
)
def test_only_the_pages_are_served(studio: Served, path: str) -> None:
    assert ask(studio, path)[0] == 404


@pytest.mark.parametrize("name", ["../x.npz", "x", ".x.npz", "a/b.npz", "x.npz\n", "lake.npz"])
def test_an_upload_goes_nowhere_else_and_replaces_nothing(studio: Served, name: str) -> None:
    from urllib.parse import quote

    before = sorted(studio.desk.folder.path.parent.rglob("*"))
    status, words, _ = ask(studio, f"/api/upload?name={quote(name)}", method="POST", body=b"x")
    assert status == 400
    assert "error" in json.loads(words)
    assert sorted(studio.desk.folder.path.parent.rglob("*")) == before


def test_only_demonstrations_can_be_brought_in(studio: Served, folder: Path) -> None:
    good = (folder / "lake.npz").read_bytes()
    damaged = good[:200] + b"\x80" + good[201:]
    for data in (b"", b"PK\x03\x04", b"\x80\x04\x95", damaged):
        status, words, _ = ask(studio, "/api/upload?name=new.npz", method="POST", body=data)
        assert status == 400
        assert "error" in json.loads(words)
        assert not (folder / "new.npz").exists()
    status, words, _ = ask(studio, "/api/upload?name=new.npz", method="POST", body=good)
    assert (status, json.loads(words)) == (200, {"name": "new.npz"})
    assert (folder / "new.npz").read_bytes() == good
    (folder / "new.npz").unlink()


def test_a_huge_upload_is_refused_before_it_is_read(studio: Served) -> None:
    line = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=30)
    line.putrequest("POST", "/api/upload?name=x.npz")
    line.putheader("Authorization", f"Bearer {studio.token}")
    line.putheader("Content-Length", str(10**12))
    line.endheaders()
    assert line.getresponse().status == 413


def test_a_body_that_does_not_say_its_length_is_counted(tmp_path: Path) -> None:
    with serve(tmp_path, most_bytes=1000) as studio:
        line = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=30)
        headers = {"Authorization": f"Bearer {studio.token}"}
        pieces = (b"x" * 400 for _ in range(10))
        line.request("POST", "/api/upload?name=x.npz", pieces, headers, encode_chunked=True)
        assert line.getresponse().status == 413


def test_a_demonstration_cannot_name_a_module_to_import(studio: Served, folder: Path) -> None:
    from dataclasses import replace

    demo = replace(bp.load(folder / "lake.npz"), env_id="antigravity:FrozenLake-v1")
    demo.save(folder / "evil.npz")
    status, words, _ = ask(studio, "/api/demo?name=evil.npz")
    (folder / "evil.npz").unlink()
    assert status == 400
    assert "names no environment" in words


@pytest.mark.parametrize(
    "asked", ["", "[]", "{", "null", '{"env": 1}', '{"env": "CartPole-v1", "seed": -1}',
              '{"env": "CartPole-v1", "env_kwargs": []}', '{"left": "../x"}', '{"demo": "../x"}'],
)  # fmt: skip
def test_what_makes_no_sense_is_answered_in_words(studio: Served, asked: str) -> None:
    status, words, _ = ask(studio, "/api/record", method="POST", body=asked)
    assert status == 400
    assert json.loads(words)["error"]
    assert studio.desk.stage is None
