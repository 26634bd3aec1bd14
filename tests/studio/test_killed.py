"""The command itself: it prints its address, and a kill in mid-recording loses nothing."""

import http.client
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from websockets.sync.client import connect

from backplay.studio import journal
from backplay.studio.folder import Folder

pytestmark = pytest.mark.slow


def test_the_take_so_far_is_offered_again_after_a_kill(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "backplay.cli", "studio", "FrozenLake-v1", "--no-open"]
    words += ["--env-kwargs", '{"is_slippery": false}']
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        assert address.endswith("#record")
        host, _, rest = address.removeprefix("http://").partition("/?token=")
        token = rest.removesuffix("#record")
        headers = {"Authorization": f"Bearer {token}"}
        with connect(f"ws://{host}/recording", additional_headers=headers) as line:
            for at, action in enumerate((2, 2, 1)):
                line.send(f'{{"do": "act", "action": {action}}}')
                while f'"at": {at + 1},'.encode() not in bytes(line.recv(timeout=60)):
                    pass
            process.send_signal(signal.SIGKILL)
    (left,) = journal.left_behind(Folder(tmp_path))
    assert left.actions == [2, 2, 1]
    assert left.task.env_kwargs == {"is_slippery": False}


def test_ctrl_c_ends_it_and_only_this_machine_is_answered(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "backplay.cli", "studio", "--no-open"]
    with subprocess.Popen(words, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as process:
        address = process.stdout.readline().strip()
        port = int(address.split(":")[2].split("/")[0])
        listening = Path("/proc/net/tcp").read_text() if os.path.exists("/proc/net/tcp") else ""
        assert f"00000000:{port:04X}" not in listening
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        line.request("GET", "/")
        assert line.getresponse().status == 403
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 130)
