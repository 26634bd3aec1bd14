"""Ways to mutate a demonstration's file: as any zip, and by hostile content, rightly digested."""

from __future__ import annotations

import io
import json
import os
import pickle
import struct
import tempfile
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from backplay.data import archive
from file_mutations import (
    Rng,
    bomb,
    change_end,
    change_headers,
    change_member,
    change_names,
    flip_bits,
    lengthen,
    members_of,
    swap_ranges,
    truncate,
    zero_range,
    zipped,
)

MARK = os.path.join(tempfile.gettempdir(), f"backplay_fuzz_{os.getpid()}", "code_ran")


class Mark:
    """Leaves a file where it says if it is ever unpickled."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return os.makedirs, (self.path,)


# ---- content: another tree or other arrays, all checksums and the digest correct


def rebuilt(document: Any, arrays: list[Any], manifest: dict[str, Any] | None = None) -> bytes:
    """A file of this content with the right digest; entries of `arrays` may be raw bytes."""
    text = document if isinstance(document, str) else json.dumps(document)
    plain = [array for array in arrays if isinstance(array, np.ndarray)]
    made = {"kind": "backplay demonstration", "version": 1, "sha256": archive._digest(text, plain)}
    members = [("manifest.json", json.dumps({**made, **(manifest or {})}).encode())]
    members.append(("tree.json", text.encode("utf-8", "replace")))
    for i, array in enumerate(arrays):
        if isinstance(array, np.ndarray):
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.ascontiguousarray(array), allow_pickle=False)
            array = buffer.getvalue()
        members.append((f"arrays/{i}.npy", array))
    return zipped(members)


def content_of(data: bytes) -> tuple[Any, list[Any]]:
    members = members_of(data)
    count = len(members) - 2
    arrays = [np.load(io.BytesIO(members[f"arrays/{i}.npy"])) for i in range(count)]
    return json.loads(members["tree.json"]), arrays


def npy(descr: str, shape: str, order: str = "False", body: bytes = b"") -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + body


HEADERS = [
    npy("'<f8'", "(9223372036854775807,)"), npy("'<f8'", f"({2**62}, {2**62}, 0)"),
    npy("'<f8'", "(-1,)", body=bytes(8)), npy("'<f8'", "(-2, -1)", body=bytes(16)),
    npy("'|O'", "(1,)", body=pickle.dumps([1])), npy("'<f8'", "(2, 2)", "True", bytes(32)),
    npy("'|S2000000000'", "(5, 0)"), npy("[('a', '<f8')]", "(1,)", body=bytes(8)),
    npy("('<f4', (1000, 1000))", "(1,)", body=bytes(4)), npy("'|V8'", "(1,)", body=bytes(8)),
    npy("'<M8[s]'", "(1,)", body=bytes(8)), npy("'<f8'", "()", body=bytes(8)),
    npy("'<f8'", "(1,) * 3", body=bytes(8)), npy("'<f8'", "(True,)", body=bytes(8)),
    npy("'<f8'", "(1.0,)", body=bytes(8)), npy("__import__('os').getcwd()", "(1,)"),
    npy("'<f8'", "(" * 150 + "1" + ",)" * 150), npy("'<f8'", "(" + "0, " * 70 + ")"),
    npy("'<U3'", "(2,)", body=b"\xff" * 24), npy("'|b1'", "(4,)", body=b"\2\3\4\5"),
    npy("'<f8'", "(10**9,)"), npy("'<f8'", "(-" + "-" * 5000 + "1,)"), b"\x93NUMPY\3\0" + bytes(40),
    b"\x93NUMPY\2\0" + struct.pack("<I", 2**32 - 1) + b"{", b"", b"\x93NUMPY", bytes(128),
]  # fmt: skip


def change_arrays(data: bytes, rng: Rng) -> bytes:
    document, arrays = content_of(data)
    i, j = (int(x) for x in rng.integers(len(arrays), size=2))
    chosen = arrays[i]
    case = int(rng.integers(10))
    if case == 0:
        arrays[i], arrays[j] = arrays[j], arrays[i]
    elif case == 1:
        arrays[i] = chosen[: int(rng.integers(len(chosen)))]
    elif case == 2:
        arrays[i] = np.concatenate([chosen, chosen])
    elif case == 3:
        arrays[i] = chosen.reshape(-1, 1) if rng.random() < 0.5 else chosen.ravel()
    elif case == 4:
        other = ["<f4", ">i8", "?", "S3", "U2", "<c16", "u1", "<f2"][rng.integers(8)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            arrays[i] = np.zeros(chosen.shape, other) if rng.random() < 0.5 else cast(chosen, other)
    elif case == 5:
        raw = bytearray(np.ascontiguousarray(chosen).tobytes() or b"\0")
        raw = bytearray(zero_range(flip_bits(bytes(raw), rng), rng))
        if chosen.size:
            arrays[i] = np.frombuffer(bytes(raw[: chosen.nbytes]), chosen.dtype).reshape(
                chosen.shape
            )
    elif case == 6:
        arrays[i] = HEADERS[rng.integers(len(HEADERS))]
    elif case == 7:
        mark = pickle.dumps(Mark(MARK))
        arrays[i] = [npy("'|O'", str(chosen.shape), body=mark), mark][rng.integers(2)]
    elif case == 8:
        arrays.append(HEADERS[rng.integers(len(HEADERS))] if rng.random() < 0.5 else np.zeros(3))
    else:
        del arrays[i]
    return rebuilt(document, arrays)


def cast(array: np.ndarray, dtype: str) -> np.ndarray:
    try:
        return array.astype(dtype)
    except (ValueError, TypeError):
        return np.zeros(array.shape, dtype)


def hostile_value(rng: Rng) -> Any:
    zeros = {"$tuple": [0] * 625}
    values = [
        None, True, -1, 0, 1.5, float("nan"), float("inf"), 2**64, 10**4000, "", "x" * 1000,
        "\ud800", [], {}, [[]], {"a": 1}, {"$array": [0, 0]}, {"$array": [0, 10**9]},
        {"$array": [-1, -1]},
        {"$array": [[], {}]}, {"$bytes": [0, 0]}, {"$scalar": [0, 0]}, {"$unknown": 1}, {"$": 1},
        {"$shared": 0}, {"$shared": 10**9}, {"$left": {"$left": 0}}, {"$tuple": [{"$tuple": []}]},
        {"$set": [1, 2, "a"]}, {"$set": [[1]]}, {"$dict": [[1, 2], [1, 3]]},
        {"$set": [i * (2**61 - 1) for i in range(3000)]}, {"$dict": [[{"$left": 0}, {"$left": 0}]]},
        {"$deque": [2**62, [1]]}, {"$deque": [0, [1, 2, 3]]}, {"$deque": [2**80, []]},
        {"$attributes": ["TimeLimit", {"env": None}]}, {"$attributes": ["Env", {"$a": 1, "b": 2}]},
        {"$attributes": ["__class__", {"__class__": 1}]}, {"$stream": ["MT19937", zeros]},
        {"$stream": ["PCG64", {"bit_generator": "PCG64", "state": {"state": 0, "inc": 0},
                               "has_uint32": 0, "uinteger": 0}]},
        {"$stream": ["Random", {"$tuple": [3, zeros, None]}]}, {"$stream": ["os.system", "true"]},
        {"$stream": ["default_rng", 1]}, {"$stream": ["SeedSequence", {}]},
        "own", "atari", "mujoco", "attributes", "deepcopy", "replay", "builtins.eval",
    ]  # fmt: skip
    return values[rng.integers(len(values))]


def places(node: Any, found: list[tuple[Any, Any]]) -> list[tuple[Any, Any]]:
    """Every (container, key) of a JSON document."""
    for key in node if isinstance(node, dict) else range(len(node)):
        found.append((node, key))
        if isinstance(node[key], dict | list):
            places(node[key], found)
    return found


def change_tree(data: bytes, rng: Rng) -> bytes:
    document, arrays = content_of(data)
    for _ in range(int(rng.choice([1, 1, 1, 2, 5]))):
        everywhere = places(document, [])
        if rng.random() < 0.3:  # near the top, where the fields of a demonstration are
            everywhere = [(n, k) for n, k in everywhere if n in (document, document.get("tree"))]
        node, key = everywhere[rng.integers(len(everywhere))]
        case = int(rng.integers(7))
        if case < 3:
            node[key] = hostile_value(rng)
        elif case == 3:
            other, name = everywhere[rng.integers(len(everywhere))]
            node[key], other[name] = other[name], node[key]
            if "tree" not in document or cyclic(document):
                return rebuilt('{"tree":' * 3000, arrays)
        elif case == 4:
            del node[key]
        elif case == 5 and isinstance(node, dict):
            node[f"${key}" if rng.random() < 0.5 else "\0"] = node.pop(key)
        else:
            node[key] = [node[key]] * int(rng.integers(3))
        if not isinstance(document, dict) or not isinstance(document.get("tree"), dict | list):
            break
    return rebuilt(document, arrays)


def cyclic(document: Any) -> bool:
    try:
        json.dumps(document)
    except (ValueError, RecursionError):
        return True
    return False


def hostile_texts(document: Any) -> list[str]:
    """JSON that is no JSON, that grows, or whose fields are not what they should be."""
    tree = document["tree"]
    laughs = [["lol"] * 10, *[[{"$shared": i}] * 10 for i in range(30)]]
    wide, table = [{"$shared": 0}] * 8_000, [["x"] * 8_000]
    keys = {"$set": [{"$tuple": [{"$shared": 0}] * 8_000}]}
    return [
        "[" * 100_000, '{"tree":' * 100_000, '{"tree":[],"shared":' + "9" * 100_000 + "}",
        json.dumps({"tree": {"$shared": 30}, "shared": laughs}),
        *(json.dumps({"tree": {**tree, field: wide}, "shared": table}) for field in tree),
        json.dumps({"tree": wide, "shared": table}),
        json.dumps({"tree": {**tree, "options": keys}, "shared": [{"$tuple": [1] * 8_000}]}),
        json.dumps({**document, "shared": [{"$shared": 0}]}), json.dumps([document]),
        json.dumps(document)[:-1], json.dumps(document) + "]", "\ufeff" + json.dumps(document), "",
        '{"tree":1,"tree":2,"shared":[]}', '{"tree":NaN,"shared":[]}', "null", '{"tree":1e999999}',
        json.dumps({**document, "tree": {**tree, "restorer": "nobody"}}),
        json.dumps({**document, "tree": {**tree, "seed": 10**4000}}),
        json.dumps({**document, "tree": {**tree, "seed": -5}}),
        json.dumps({**document, "tree": {**tree, "options": {"$dict": [[1, 2]]}}}),
        "[" * 980 + "]" * 980, '"' + "\\u0000" * 10_000 + '"',
    ]  # fmt: skip


def change_text(data: bytes, rng: Rng) -> bytes:
    document, arrays = content_of(data)
    texts = hostile_texts(document)
    manifests: list[dict[str, Any]] = [
        {}, {}, {}, {"version": 2}, {"version": [1]}, {"kind": None}, {"sha256": {}},
        {"x": "y" * 9000},
    ]  # fmt: skip
    return rebuilt(texts[rng.integers(len(texts))], arrays, manifests[rng.integers(len(manifests))])


MUTATIONS: dict[Callable[[bytes, Rng], bytes], bool] = {
    flip_bits: False, truncate: False, lengthen: False, zero_range: False, swap_ranges: False,
    change_member: False, change_names: False, change_headers: False, change_end: False,
    bomb: False, change_arrays: True, change_tree: True, change_text: True,
}  # fmt: skip
"""Whether the digest is made anew, so that the file may be another valid one."""
