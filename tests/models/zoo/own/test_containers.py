"""Hostile and damaged files of arrays: each is refused in a sentence before it takes memory."""

import io
import json
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from models import read_attention
from models.byte_units import MB
from models.files import FileError
from models.limits import in_force
from models.zoo.own.arrays import read_own
from models.zoo.own.containers import MAX_CELLS, MAX_MEMBERS
from tests.models.zoo.own.handed_in import GIVEN, NAMED, TOKENS, as_json, npz, refusal


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[1, 0], [1]]", "has lists of different lengths, or something that is no number"),
        ('{"attention": [["a", 1]]}', "has lists of different lengths, or something that is no number"),
        ("[[1, null]]", "has the weight nan at [0, 0, 0, 1]"),
        ("[[1, NaN]]", "has the weight nan at [0, 0, 0, 1]"),
        ("[]", "has attention of the shape (0,)"),
        ("[" * 100_000, "is no JSON: it is damaged, or another file"),
        ("{", "is no JSON"),
        ("3", "holds a int; give {'attention': [...], 'tokens': [...]}"),
        ('{"attention": [[1, 0], [0, 1]], "tokens": [["a"], "b"]}', "has 'tokens' that is no list of texts"),
    ],
)
def test_wrong_json_is_refused_in_a_sentence(text: str, said: str) -> None:
    assert refusal(text.encode(), "mine.json").startswith(said)


def archive(member: bytes, name: str = "attention.npy", packed: int = zipfile.ZIP_DEFLATED) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packed) as made:
        made.writestr(name, member)
    return file.getvalue()


def npy_header(shape: tuple[int, ...], dtype: str = "<f4") -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": False, "shape": shape})
    return file.getvalue()


def test_a_zip_bomb_is_refused_by_what_it_declares() -> None:
    bomb = archive(npy_header((2, 2)) + bytes(700 * MB))
    assert len(bomb) < MB
    assert refusal(bomb).startswith("declares 700 MB for 'attention'; at most 102 MB are unpacked")
    header_alone = archive(npy_header((100_000, 100_000)))
    assert refusal(header_alone) == (
        f"declares 'attention' of 100000 x 100000 = 10,000,000,000 weights; at most {MAX_CELLS:,} are read: "
        "hand in fewer layers, heads or tokens"
    )
    text = npz(attention=np.eye(2), tokens=np.array(["a" * 2_000_000, "b"]))
    assert refusal(text).startswith("declares 16 MB for 'tokens'; at most 8.0 MB are unpacked")


def test_a_zip_bomb_that_lies_about_its_size_gives_no_byte_more_than_it_declares() -> None:
    honest = archive(npy_header((2, 2)) + bytes(50 * MB))
    real = struct.pack("<I", 50 * MB + len(npy_header((2, 2))))
    lying = honest.replace(real, struct.pack("<I", 100))
    assert lying != honest
    assert refusal(lying).startswith("is no whole .npz: it is damaged")


def test_an_archive_of_countless_members_or_of_another_packing_is_not_unpacked() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for at in range(MAX_MEMBERS + 1):
            made.writestr(f"{at}.npy", b"")
    assert refusal(file.getvalue()).startswith("holds more than 5,000 arrays")
    packed = archive(npy_header((2, 2)) + bytes(16), packed=zipfile.ZIP_BZIP2)
    assert refusal(packed).startswith("is packed in a way that numpy does not write")


def test_a_pickle_is_never_opened() -> None:
    objects = npz(attention=np.array([[1, "a"], [None, 2]], dtype=object))
    assert refusal(objects).startswith(
        "holds 'attention' as a pickle of Python objects, which can run any program"
    )
    assert refusal(b"\x80\x04.", "mine.pt").startswith(
        "ends in 'pt', but attention is read from .npz, .safetensors"
    )


@pytest.mark.parametrize("name", ["mine.npz", "mine.safetensors"])
def test_a_damaged_file_is_refused(name: str) -> None:
    whole = npz(**NAMED) if name.endswith("npz") else save({"attention": GIVEN})
    for content in (b"", b"no such file", whole[: len(whole) // 2], whole[:30] + b"\xff" * 40 + whole[70:]):
        said = refusal(content, name)
        assert said.startswith(("is no whole", "declares a header", "holds nothing"))


def test_a_tensors_declared_shape_is_checked_before_its_bytes() -> None:
    header = {"attention": {"dtype": "F32", "shape": [1 << 20, 1 << 20], "data_offsets": [0, 4]}}
    raw = json.dumps(header).encode()
    content = struct.pack("<Q", len(raw)) + raw + bytes(4)
    assert refusal(content, "a.safetensors").startswith("declares 'attention' of 1048576 x 1048576 = ")


@pytest.mark.parametrize(
    "whole",
    [
        ("a.npz", npz(**NAMED)),
        ("a.safetensors", save({"attention": GIVEN}, metadata={"tokens": json.dumps(TOKENS)})),
        ("a.json", as_json(attention=GIVEN.tolist(), tokens=TOKENS)),
    ],
    ids=lambda whole: whole[0],
)
def test_garbled_bytes_are_read_or_refused_in_a_sentence(whole: tuple[str, bytes]) -> None:
    name, content = whole
    drawn = np.random.default_rng(0)
    for _ in range(500):
        garbled = bytearray(content)
        for at in drawn.integers(len(garbled), size=drawn.integers(1, 6)):
            garbled[at] = drawn.choice([0, 1, 127, 255, drawn.integers(256)])
        try:
            own = read_own(bytes(garbled), name)
        except FileError as error:
            assert len(str(error)) < 400
        else:
            assert np.isfinite(own.weights).all() and own.weights.shape[2] == len(own.queries)


def test_a_file_of_2_gb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.npz"
    with path.open("wb") as file:
        file.truncate(2 * 10**9)
    with pytest.raises(FileError, match="is larger than the 64,000,000 bytes allowed for attention; choose"):
        read_attention(path)
    assert in_force().upload_mb == 64
