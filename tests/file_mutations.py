"""Ways to mutate any zip file: its bytes, its members, its headers."""

from __future__ import annotations

import io
import struct
import warnings
import zipfile
import zlib

import numpy as np

Rng = np.random.Generator
Members = dict[str, bytes]


# ---- bytes: a disk that fails, a download that breaks off


def flip_bits(data: bytes, rng: Rng) -> bytes:
    mutated = bytearray(data)
    for at in rng.integers(len(data), size=int(rng.integers(1, 9))):
        mutated[at] ^= 1 << int(rng.integers(8))
    return bytes(mutated)


def truncate(data: bytes, rng: Rng) -> bytes:
    cut = int(rng.integers(len(data)))
    return data[:cut] if rng.random() < 0.7 else data[cut:]


def lengthen(data: bytes, rng: Rng) -> bytes:
    more = [rng.bytes(int(rng.integers(1, 300))), bytes(70_000), data][rng.integers(3)]
    return data + more if rng.random() < 0.5 else more + data


def zero_range(data: bytes, rng: Rng) -> bytes:
    a, b = sorted(int(x) for x in rng.integers(len(data), size=2))
    return data[:a] + (bytes(b - a) if rng.random() < 0.7 else rng.bytes(b - a)) + data[b:]


def swap_ranges(data: bytes, rng: Rng) -> bytes:
    a, b, c = sorted(int(x) for x in rng.integers(len(data), size=3))
    return data[:a] + data[b:c] + data[a:b] + data[c:]


# ---- zip: members changed, the checksums of the zip correct


def members_of(data: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(data)) as opened:
        return {name: opened.read(name) for name in opened.namelist()}


def zipped(members: list[tuple[str, bytes]], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as made:
        warnings.simplefilter("ignore")  # of duplicate names
        for name, content in members:
            made.writestr(name, content)
    return buffer.getvalue()


def change_member(data: bytes, rng: Rng) -> bytes:
    members = members_of(data)
    name = str(rng.choice(list(members)))
    how = (flip_bits, truncate, lengthen, zero_range, swap_ranges)[rng.integers(5)]
    return zipped([*{**members, name: how(members[name], rng)}.items()])


def change_names(data: bytes, rng: Rng) -> bytes:
    members = list(members_of(data).items())
    i, j = (int(x) for x in rng.integers(len(members), size=2))
    names = [
        "../../evil.npy",
        "/etc/passwd",
        "arrays/00.npy",
        "arrays/-1.npy",
        "manifest.json\0",
        ".",
    ]
    names += ["arrays/99.npy", "arrays\\0.npy", "TREE.json", "arrays/0.npy/", "😀" * 50]
    case = int(rng.integers(5))
    if case == 0:  # swapped
        members[i], members[j] = (members[i][0], members[j][1]), (members[j][0], members[i][1])
    elif case == 1:  # twice
        members.insert(int(rng.integers(len(members) + 1)), (members[i][0], members[j][1]))
    elif case == 2:
        del members[i]
    elif case == 3:
        members[i] = (names[rng.integers(len(names))], members[i][1])
    else:
        members.append((names[rng.integers(len(names))], b"x"))
    method = [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED, zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2]
    return zipped(members, method[rng.integers(4)])


def change_headers(data: bytes, rng: Rng) -> bytes:
    """Flags (encryption), compression, sizes and offsets in the headers that zipfile believes."""
    mutated = bytearray(data)
    local = rng.random() < 0.3
    found, at = [], data.find(b"PK\3\4" if local else b"PK\1\2")
    while at >= 0:
        found.append(at)
        at = data.find(b"PK\3\4" if local else b"PK\1\2", at + 1)
    fields = [(6, "<H"), (8, "<H"), (14, "<I"), (18, "<I"), (22, "<I"), (26, "<H"), (28, "<H")]
    at, (offset, form) = found[rng.integers(len(found))], fields[rng.integers(len(fields))]
    offset += 0 if local else (14 if rng.random() < 0.1 else 2)  # the last: where its data begins
    values = (
        [0, 1, 8, 12, 14, 93, 99, 0xFFFF, 9, 20] if form == "<H" else [0, 1, 2**31, 2**32 - 1, 10]
    )
    value = int(rng.choice(values))
    struct.pack_into(form, mutated, at + offset, value)
    return bytes(mutated)


def change_end(data: bytes, rng: Rng) -> bytes:
    mutated = bytearray(data)
    at = data.rfind(b"PK\5\6")
    struct.pack_into(
        "<H", mutated, at + int(rng.choice([4, 6, 8, 10, 20])), int(rng.integers(2**16))
    )
    if rng.random() < 0.5:
        struct.pack_into("<I", mutated, at + int(rng.choice([12, 16])), int(rng.integers(2**32)))
    return bytes(mutated)


def deflated_zeros(size: int) -> bytes:
    """So many zeros as a deflate stream, made without ever holding them."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block = packer.compress(bytes(2**20)) + packer.flush(zlib.Z_FULL_FLUSH)  # can be repeated
    return block * (size >> 20) + zlib.compressobj(9, zlib.DEFLATED, -15).flush()


def bomb(data: bytes, rng: Rng) -> bytes:
    """Members that are small in the file and huge outside, and may say that they are small."""
    size = int(rng.choice([2**20, 2**26, 3 * 2**30], p=[0.6, 0.35, 0.05]))
    packed = deflated_zeros(size)
    members = members_of(data)
    name = str(rng.choice(list(members)))
    mutated = bytearray(zipped([(n, c) for n, c in members.items() if n != name]))
    # The bomb is spliced in by hand, under the name of the member it replaces.
    claimed = size if rng.random() < 0.4 else int(rng.choice([0, 10, 1000]))
    crc = zlib.crc32(bytes(min(claimed, 2**26)))
    raw = name.encode()
    shared = struct.pack("<HHHHHIIIHH", 20, 0, 8, 0, 33, crc, len(packed), claimed, len(raw), 0)
    first = mutated.find(b"PK\1\2")
    end = bytes(mutated[mutated.rfind(b"PK\5\6") :])
    directory = bytes(mutated[first : mutated.rfind(b"PK\5\6")])
    entry = b"PK\1\2\x14\0" + shared + struct.pack("<HHHII", 0, 0, 0, 0, first) + raw
    body = bytes(mutated[:first]) + b"PK\3\4" + shared + raw + packed
    count = len(members)
    tail = struct.pack("<HHII", count, count, len(directory) + len(entry), len(body)) + end[20:]
    return body + directory + entry + end[:8] + tail
