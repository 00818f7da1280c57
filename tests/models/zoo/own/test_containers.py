"""Hostile and damaged files of arrays: each is refused in a sentence before it takes memory."""

import io
import json
import struct
import tracemalloc
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
from models.zoo.own.containers import MAX_CELLS, MAX_JSON_BYTES, MAX_MEMBERS
from tests.models.zoo.own.handed_in import GIVEN, NAMED, TOKENS, as_json, npz, refusal


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[1, 0], [1]]", "has lists of different lengths, or something that is no number"),
        ('{"attention": [["a", 1]]}', "has lists of different lengths, or something that is no number"),
        ("[[1, null]]", "has the weight nan at [0, 0, 0, 1]"),
        ("[[1, NaN]]", "has the weight nan at [0, 0, 0, 1]"),
        ("[]", "has attention of the shape (0,)"),
        ("[" * 100_000, "is no whole .json: it is damaged, or another file"),
        ("{", "is no whole .json"),
        ('["\\ud800"' * 600, "is no whole .json"),
        ("[" * 600 + '"\\ud800"' + "]" * 600, "is no whole .json"),
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
    assert refusal(bomb).startswith("is no whole .npz")
    header_alone = archive(npy_header((100_000, 100_000)))
    assert refusal(header_alone) == (
        "declares 10,000,000,000 weights, with 'attention' of 100000 x 100000; at most "
        f"{MAX_CELLS:,} are read of a file: hand in fewer layers, heads or tokens"
    )
    text = npz(attention=np.eye(2), tokens=np.array(["a" * 2_000_000, "b"]))
    assert refusal(text).startswith("declares 16 MB of tokens, with 'tokens'; at most 8.0 MB are unpacked")


def refused_in(content: bytes, name: str = "mine.npz") -> tuple[str, int]:
    """The refusal, and the most bytes that were held for it."""
    tracemalloc.start()
    try:
        return refusal(content, name), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_all_layers_are_counted_together_before_one_is_unpacked() -> None:
    """Each alone is within the limits."""
    layer = npy_header((12, 1_000, 1_000), "|b1") + bytes(12_000_000)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        for at in range(40):
            made.writestr(f"attention_{at}.npy", layer)
    said, held = refused_in(file.getvalue())
    assert len(file.getvalue()) < MB and held < MB
    assert said == (
        "declares 24,000,000 weights, with 'attention_1' of 12 x 1000 x 1000; at most 12,800,000 are read of "
        "a file: hand in fewer layers, heads or tokens"
    )
    wide = {f"attention_{at}": np.zeros((1_000, 1_000), "<f16") for at in range(7)}
    said, held = refused_in(npz(**wide))
    assert held < MB
    assert said.startswith("declares 112 MB of weights, with 'attention_6'; at most 102 MB are unpacked")
    layers = {f"attention_{at}": np.zeros((5, 1_000, 1_000), bool) for at in range(3)}
    said, held = refused_in(save(layers), "mine.safetensors")
    assert held < MB
    assert said.startswith("declares 15,000,000 weights, with 'attention_2' of 5 x 1000 x 1000; at most")


def test_tokens_are_counted_by_their_header() -> None:
    eye, most = npy_header((2, 2)) + bytes(16), 3 * in_force().explore_tokens
    for shape, dtype, reason in (
        ((50_000_000,), "<U0", "has 'tokens' that is no list of texts (<U0); give one text"),
        ((50_000_000,), "|S0", "has 'tokens' that is no list of texts (|S0); give one text"),
        ((0, 50_000_000), "|V0", "has 'tokens' that is no list of texts (|V0); give one text"),
        ((4_000,), "|S1", f"declares 4,000 tokens, with 'tokens' of 4000; at most {most:,} are read"),
        ((2,), "<U2000000", "declares 16 MB of tokens, with 'tokens'; at most 8.0 MB are unpacked"),
    ):
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as made:
            made.writestr("attention.npy", eye)
            made.writestr("tokens.npy", npy_header(shape, dtype))
        said, held = refused_in(file.getvalue())
        assert said.startswith(reason) and held < MB
    ids = {"attention": GIVEN, "tokens": np.zeros(4_000, np.int64)}
    assert refusal(save(ids), "a.safetensors").startswith("declares 4,000 tokens, with 'tokens' of 4000")


def test_json_takes_a_bounded_multiple_of_its_bytes() -> None:
    for piece in ("[],", "{},", "-9999,", "1e9,", '{"":[]},', "[[1]],", '"é",'):
        listed = f"[{piece * (MAX_JSON_BYTES // len(piece.encode()) - 2)}1]"
        said, held = refused_in(listed.encode(), "a.json")
        assert said.startswith("has ") and held < 50 * MAX_JSON_BYTES, piece
    said = refusal(b"[" + b"1," * MAX_JSON_BYTES + b"1]", "a.json")
    assert said == (
        "has 4.0 MB; at most 2.0 MB of .json are read: hand in fewer layers, heads or tokens, or an .npz"
    )


def test_tensors_that_share_bytes_are_refused() -> None:
    for offsets in ([0, 16], [8, 24], [16, 16]):
        header = {
            "attention_0": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
            "attention_1": {"dtype": "F32", "shape": [2, 2], "data_offsets": offsets},
        }
        raw = json.dumps(header).encode()
        content = struct.pack("<Q", len(raw)) + raw + bytes(24)
        assert refusal(content, "a.safetensors").startswith("is no whole .safetensors")


def test_a_layer_is_named_once() -> None:
    twice = npz(attention_1=GIVEN[0], pattern_1=GIVEN[1])
    assert refusal(twice).startswith("has 2 arrays for 1 layers; name each layer once")


_HEADER = b"{'descr': %s, 'fortran_order': False, 'shape': (%s), }"


@pytest.mark.parametrize(
    "header",
    [
        *(b"(" * 5_000, b"-" * 9_000 + b"1", b"{'descr': '<f4", b"{[]: 1}", b"'", b"\\", b"1L", b"[" * 150),
        *(_HEADER % (b"'<f4'", shape) for shape in (
            b"0, " + b"9" * 4_000, b"0, " + b"9" * 40, b"9" * 4_200, b"1," * 300 + b"1", b"True", b"-1, -4",
        )),
        *(_HEADER % (descr, b"2, 2") for descr in (
            b"'|O'", b"'<U99999999999'", b"'<f4, <i4'", b"('<f4', (1000,))", b"('<f4',)", b"[('a',)]", b"{}",
            b"[]", b"'<M8[s]'", b"'<c16'", b"None", b"[('a', '|O')]", b"'(2,)<f4'", b"'|V0'",
        )),
    ],
    ids=lambda header: str(header[:70]),
)  # fmt: skip
@pytest.mark.filterwarnings("ignore")
def test_a_damaged_header_is_refused_in_a_sentence(header: bytes) -> None:
    for version in (b"\x01\x00", b"\x02\x00", b"\x03\x00"):
        size = struct.pack("<I" if version[0] > 1 else "<H", len(header))
        assert len(refusal(archive(b"\x93NUMPY" + version + size + header))) < 400


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
    said = refusal(archive(npy_header((2, 2), "<c8") + bytes(32), "a" * 60_000 + ".npy"))
    assert said.startswith("holds 'aaa") and len(said) < 400
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
    assert refusal(content, "a.safetensors").startswith("declares 1,099,511,627,776 weights, with")


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
