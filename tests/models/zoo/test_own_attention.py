"""Files of attention as people make them, and what is said of those that cannot be read."""

import io
import json
import struct
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save
from safetensors.torch import save as save_torch

from attention_lab.models import load_model, read_attention
from attention_lab.models.byte_units import MB
from attention_lab.models.files import FileError
from attention_lab.models.limits import in_force
from attention_lab.models.zoo import own_attention
from attention_lab.models.zoo.own_attention import (
    MAX_CELLS,
    MAX_JSON_BYTES,
    MAX_MEMBERS,
    MAX_TOKENS,
    OwnAttention,
    open_kept,
    read_own,
    to_keep,
)
from attention_lab.models.zoo.own_model import of_kept

TOKENS = ["the", "cat", "sat"]


def soft(*shape: int) -> np.ndarray:
    drawn = np.exp(2 * np.random.default_rng(0).normal(size=shape))
    return (drawn / drawn.sum(-1, keepdims=True)).astype(np.float32)


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def as_json(**found: Any) -> bytes:
    return json.dumps(found).encode()


def refusal(content: bytes, name: str = "mine.npz") -> str:
    with pytest.raises(FileError) as caught:
        read_own(content, name)
    said = str(caught.value)
    assert said.startswith(repr(name)), said
    return said.removeprefix(f"{name!r} ")


def weights_of(own: OwnAttention) -> np.ndarray:
    """The patterns of its only stack, [layer, head, query, key]."""
    return np.stack([array for address, array in own.tensors.items() if address.endswith(".pattern")])


GIVEN = soft(2, 4, 3, 3)
LAYERS = {f"attention_{at}": layer for at, layer in enumerate(GIVEN)}
NAMED = {"attention": GIVEN, "tokens": np.array(TOKENS)}


# Attention from files of one's own: what each format gives, and the sentence for every wrong array.


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.npz", npz(**NAMED)),
        ("a.npz", npz(attentions=GIVEN[:, None], tokens=np.array(TOKENS))),  # a batch of one
        ("a.npz", npz(**LAYERS, tokens=np.array(TOKENS, dtype="S"))),
        ("a.npz", npz(anything=GIVEN.astype(np.float64), query_tokens=np.array(TOKENS))),
        ("a.safetensors", save({"pattern": GIVEN}, metadata={"tokens": json.dumps(TOKENS)})),
        ("a.safetensors", save(LAYERS, metadata={"tokens": json.dumps(TOKENS)})),
        ("a.JSON", as_json(attention=GIVEN.tolist(), tokens=TOKENS)),
    ],
)
def test_every_format_gives_the_same_weights_and_tokens(name: str, content: bytes) -> None:
    own = read_own(content, name)
    np.testing.assert_array_equal(weights_of(own), GIVEN)
    assert weights_of(own).dtype == np.float32
    assert (own.title, own.tokens, list(own.stacks)) == (name, {"encoder": TOKENS}, ["encoder.self"])
    assert own.note == "Only weights were handed in."


def test_a_matrix_may_be_rectangular_and_a_list_alone() -> None:
    matrix = soft(2, 3)
    own = read_own(as_json(attention=matrix.tolist(), query_tokens=["a", "b"], key_tokens=TOKENS), "m.json")
    assert weights_of(own).shape == (1, 1, 2, 3)
    assert own.tokens == {"encoder": TOKENS, "decoder": ["a", "b"]}
    own = read_own(json.dumps(matrix.tolist()).encode(), "m.json")
    assert own.tokens == {"encoder": ["0", "1", "2"], "decoder": ["0", "1"]}
    assert weights_of(read_own(json.dumps(soft(2, 3, 3).tolist()).encode(), "m.json")).shape == (1, 2, 3, 3)


def test_square_attention_to_other_tokens_keeps_both_lists() -> None:
    own = read_own(
        npz(attention=soft(3, 3), query_tokens=np.array([*"abc"]), key_tokens=np.array(TOKENS)), "a.npz"
    )
    assert own.tokens == {"encoder": TOKENS, "decoder": [*"abc"]}


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_, np.float16])
def test_numbers_of_every_kind_are_converted(dtype: type) -> None:
    own = read_own(npz(attention=np.eye(3, dtype=dtype)), "a.npz")
    np.testing.assert_array_equal(weights_of(own)[0, 0], np.eye(3, dtype=np.float32))


def test_halves_that_safetensors_knows_are_converted_to_the_bit() -> None:
    given = torch.from_numpy(GIVEN)
    for dtype in (torch.float16, torch.bfloat16):
        own = read_own(save_torch({"attention": given.to(dtype)}), "a.safetensors")
        np.testing.assert_array_equal(weights_of(own), given.to(dtype).float().numpy())
        assert "add up" not in own.note  # they are off by what 16 bits leave out
    eight = save_torch({"attention": given.to(torch.float8_e4m3fn)})
    assert refusal(eight, "a.safetensors") == (
        "holds 'attention' as F8_E4M3, which is not read; convert it to float32"
    )


def test_rows_that_do_not_add_up_to_1_are_shown_with_a_notice() -> None:
    weights = soft(1, 2, 3, 3)
    weights[0, 1, 2] *= 0.5
    weights[0, 0, 0] = 0
    own = read_own(npz(attention=weights), "a.npz")
    np.testing.assert_array_equal(weights_of(own), weights)
    assert own.note.startswith("2 of 6 rows do not add up to 1 (sums 0 to 0.5): they are measured by")


def spoilt(value: float) -> np.ndarray:
    weights = soft(1, 2, 3, 3)
    weights[0, 1, 2, 0] = value
    return weights


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"attention": spoilt(np.nan)}, "has the weight nan at [0, 1, 2, 0], which is no finite number"),
        ({"attention": spoilt(-0.5)}, "has the weight -0.5 at [0, 1, 2, 0], which is negative, like 1 of"),
        ({"attention": spoilt(3.0)}, "has the weight 3 at [0, 1, 2, 0], which is more than 1"),
        ({"attention": np.full((2, 2), 1e300)}, "has the weight inf at [0, 0, 0, 0]"),
        ({"attention": np.ones(3)}, "has attention of the shape (3,); give [layer, head, query, key]"),
        ({"attention": np.ones((2, 2, 2, 2, 2))}, "has attention of the shape (2, 2, 2, 2, 2); give [layer"),
        ({"attention": np.ones((2, 0, 2, 2))}, "has attention of the shape (2, 0, 2, 2), without a weight"),
        ({"attention": np.eye(2) + 0j}, "has weights (complex128) that are no numbers"),
        (NAMED | {"tokens": np.array(["a"])}, "has 1 tokens for 3 query positions; give one token for each"),
        ({"attention": soft(2, 3), "tokens": np.array(TOKENS)}, "has one list of tokens for 2 queries and 3"),
        (NAMED | {"tokens": np.array([TOKENS])}, "has 'tokens' that is no list of texts"),
        (NAMED | {"tokens": np.array(["a" * 1_001] * 3)}, "has 3 tokens, the longest of 1,001 characters"),
        ({"attention": np.ones((5_000, 1, 1))}, "has 1 layers of 5,000 heads, read as [layer, head"),
        ({"attention": np.ones((1_031, 2))}, "has 1,031 queries and 2 keys; at most 1,030 are shown"),
        (LAYERS | {"attention_1": soft(4, 2, 2)}, "has layers of different shapes, [(4, 2, 2), (4, 3, 3)]"),
        ({"weights": np.ones(2), "other": np.ones(2)}, "holds 'weights', 'other', but no array named"),
        ({}, "holds nothing, but no array named 'attention' or 'pattern'; name it so"),
    ],
)  # fmt: skip
def test_wrong_arrays_are_refused_in_a_sentence(arrays: dict[str, Any], said: str) -> None:
    assert refusal(npz(**arrays)).startswith(said)


def test_what_is_kept_is_the_same_bytes_for_the_same_attention_and_reads_back(tmp_path: Path) -> None:
    own = read_own(npz(attention=soft(2, 2, 2, 3), key_tokens=np.array(TOKENS)), "a.npz")
    kept_path = tmp_path / "x.attention"
    kept_path.write_bytes(to_keep(own))
    assert to_keep(own) == kept_path.read_bytes()
    kept, addresses = open_kept(kept_path)
    assert kept.title == "a.npz" and kept.stacks["decoder.cross"]["n_heads"] == 2
    assert (kept.tokens, kept.note) == ({"encoder": TOKENS, "decoder": ["0", "1"]}, own.note)
    trace = of_kept(kept, addresses, lambda: kept_path).trace()
    assert list(trace.keys()) == ["decoder.0.cross.pattern", "decoder.1.cross.pattern"]
    assert trace.tokens == {"encoder": TOKENS, "decoder": ["0", "1"]}
    np.testing.assert_array_equal(trace["decoder.1.cross.pattern"].numpy(), weights_of(own)[1])
    kept_path.write_bytes(to_keep(own)[:-1])
    with pytest.raises(FileError, match="the file of these tensors is damaged; hand it in again"):
        open_kept(kept_path)
    kept_path.unlink()
    with pytest.raises(FileError, match="no longer here; hand them in again"):
        open_kept(kept_path)


def test_the_model_of_a_file_has_patterns_alone_under_our_addresses(tmp_path: Path) -> None:
    path = tmp_path / "mine.npz"
    path.write_bytes(npz(**NAMED))
    lm = read_attention(path)
    trace = lm.trace()
    assert trace.tokens == {"encoder": TOKENS}
    np.testing.assert_array_equal(trace["encoder.1.self.pattern"].numpy(), GIVEN[1])
    assert lm.stacks(("encoder",)) == ("encoder.self",) and not lm.attention("encoder.self").whole
    assert (
        lm.code("")
        == f"from attention_lab.models import read_attention\ntrace = read_attention({str(path)!r}).trace()"
    )
    with pytest.raises(ValueError, match="an edit must change something; write one, or"):
        lm.trace(edit=lambda address, tensor: tensor)


# Hostile and damaged files of arrays: each is refused in a sentence before it takes memory.


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[[1, 0], [1]]", "has lists of different lengths or no numbers"),
        ('{"attention": [["a", 1]]}', "has lists of different lengths or no numbers"),
        ("[[1, null]]", "has the weight nan at [0, 0, 0, 1]"),
        ("[]", "has attention of the shape (0,)"),
        ("[" * 100_000, "is no whole .json"),
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
    bomb = archive(npy_header((2, 2)) + bytes(200 * MB))
    assert len(bomb) < MB
    assert refusal(bomb).startswith("is no whole .npz")
    header_alone = archive(npy_header((100_000, 100_000)))
    assert refusal(header_alone) == (
        "declares 10,000,000,000 weights, with 'attention' of 100000 x 100000; at most "
        f"{MAX_CELLS:,} are read: hand in fewer layers, heads or tokens"
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
        "declares 24,000,000 weights, with 'attention_1' of 12 x 1000 x 1000; at most 12,800,000 are read: "
        "hand in fewer layers, heads or tokens"
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
    eye, most = npy_header((2, 2)) + bytes(16), MAX_TOKENS
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


def test_json_takes_a_bounded_multiple_of_its_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    said = refusal(b"[" + b"1," * MAX_JSON_BYTES + b"1]", "a.json")
    assert said == (
        "has 4.0 MB; at most 2.0 MB of .json are read: hand in fewer layers, heads or tokens, or an .npz"
    )
    most = 200_000
    monkeypatch.setattr(own_attention, "MAX_JSON_BYTES", most)
    for piece in ("[],", "{},", "-9999,", "1e9,", '{"":[]},', "[[1]],", '"é",'):
        listed = f"[{piece * (most // len(piece.encode()) - 2)}1]"
        said, held = refused_in(listed.encode(), "a.json")
        assert said.startswith("has ") and held < 50 * most, piece


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
    assert refusal(lying).startswith("is no whole .npz")


def test_an_archive_of_countless_members_or_of_another_packing_is_not_unpacked() -> None:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as made:
        for at in range(MAX_MEMBERS + 1):
            made.writestr(f"{at}.npy", b"")
    assert refusal(file.getvalue()).startswith("holds more than 5,000 arrays")
    said = refusal(archive(npy_header((2, 2), "<c8") + bytes(32), "a" * 60_000 + ".npy"))
    assert said.startswith("holds 'aaa") and len(said) < 400
    packed = archive(npy_header((2, 2)) + bytes(16), packed=zipfile.ZIP_BZIP2)
    assert refusal(packed).startswith("is packed in another way than numpy's")


def test_a_pickle_is_never_opened() -> None:
    objects = npz(attention=np.array([[1, "a"], [None, 2]], dtype=object))
    assert refusal(objects).startswith("holds 'attention' as a pickle, which could run a program")
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
            assert np.isfinite(weights_of(own)).all() and weights_of(own).shape[2] in map(
                len, own.tokens.values()
            )


def test_a_file_of_2_gb_is_refused_before_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "large.npz"
    with path.open("wb") as file:
        file.truncate(2 * 10**9)
    with pytest.raises(FileError, match="is larger than the 64,000,000 bytes allowed for attention; choose"):
        read_attention(path)
    assert in_force().upload_mb == 64


# More than patterns: scores, q, k, v and logits, several stacks, and what follows from them.

SENTENCE = "the animal did not cross the street"


def test_a_whole_trace_of_an_encoder_decoder_reads_back_as_it_was(tmp_path: Path) -> None:
    given = load_model("translator").trace(SENTENCE)
    path = tmp_path / "trace.npz"
    tokens = {f"tokens.{side}": np.array(labels) for side, labels in given.tokens.items()}
    np.savez(path, **{address: given[address].numpy() for address in given}, **tokens)  # type: ignore[arg-type]
    lm = read_attention(path)
    trace, config = lm.trace(), load_model("translator").config
    assert trace.tokens == given.tokens and not lm.note
    assert lm.stacks(()) == ("encoder.self", "decoder.self", "decoder.cross")
    assert {address for address in trace if address.endswith((".q", ".k", ".v", ".scores", ".z", "logits"))}
    for address in trace:
        torch.testing.assert_close(trace[address], given[address], atol=1e-4, rtol=1e-4)
    for stack in lm.stacks(()):
        attention = lm.attention(stack)
        assert attention.whole and attention.scales == pytest.approx((config.scale,) * 2, rel=1e-4)
    assert set(trace) == {
        a for a in given if a.split(".")[-1] in ("q", "k", "v", "scores", "pattern", "z", "logits")
    }


def made(n_key_heads: int = 4, causal: bool = True) -> dict[str, np.ndarray]:
    """One pass by hand: raw products, scaled, masked, the pattern, and what they are made of."""
    draw = np.random.default_rng(1).normal
    q, k, v = draw(size=(2, 4, 5, 8)), draw(size=(2, n_key_heads, 5, 8)), draw(size=(2, n_key_heads, 5, 8))
    shared = np.repeat(k, 4 // n_key_heads, axis=1)
    raw = np.einsum("lhqc,lhkc->lhqk", q, shared)
    scaled = raw / np.sqrt(8)
    masked = np.where(np.tri(5, dtype=bool), scaled, -np.inf) if causal else scaled
    pattern = torch.tensor(masked).softmax(-1).numpy()
    return {"q": q, "k": k, "v": v, "raw": raw, "scaled": scaled, "masked": masked, "pattern": pattern}


@pytest.mark.parametrize("scores", ["raw", "scaled", "masked"])
@pytest.mark.parametrize("causal", [True, False])
def test_scores_before_or_after_scaling_and_masking_are_told_by_the_pattern(
    scores: str, causal: bool
) -> None:
    one = made(causal=causal)
    own = read_own(npz(attention=one["pattern"], scores=one[scores]), "a.npz")
    stack = "decoder.self" if causal else "encoder.self"
    assert list(own.stacks) == [stack] and not own.stacks[stack]["whole"]
    found = own.tensors[f"{stack.replace('.', '.1.')}.scores"]
    np.testing.assert_allclose(found, one["masked"][1], atol=1e-3)
    assert ("Unscaled" in own.note) == (scores == "raw") and "there are no q, k, v" in own.note
    if scores == "raw":
        assert "multiplied by 0.3536" in own.note


@pytest.mark.parametrize("n_key_heads", [4, 2])
@pytest.mark.parametrize("numbered", [True, False])
def test_queries_keys_and_values_give_all_that_follows(n_key_heads: int, numbered: bool) -> None:
    one = made(n_key_heads)
    parts = {name: one[name] for name in ("pattern", "q", "k", "v")}
    if numbered:
        parts = {f"{name}_{at}": array[at] for name, array in parts.items() for at in range(2)}
    own = read_own(npz(**parts, logits=np.ones((5, 3))), "a.npz")
    fields = own.stacks["decoder.self"]
    assert fields["whole"] and fields["n_key_heads"] == n_key_heads and not own.note
    assert fields["scales"] == pytest.approx((8**-0.5,) * 2, rel=1e-3)
    np.testing.assert_allclose(own.tensors["decoder.0.self.scores"], one["masked"][0], atol=1e-3)
    z = one["pattern"][0] @ np.repeat(one["v"][0], 4 // n_key_heads, axis=0)
    np.testing.assert_allclose(own.tensors["decoder.0.self.z"], z, atol=1e-5)
    assert own.tensors["logits"].shape == (5, 3)


def test_masked_scores_are_enough_and_give_the_pattern() -> None:
    one = made()
    own = read_own(npz(scores=one["masked"]), "a.npz")
    np.testing.assert_allclose(own.tensors["decoder.1.self.pattern"], one["pattern"][1], atol=1e-6)


def test_the_names_that_transformers_gives_are_stacks() -> None:
    encoder, decoder, cross = soft(2, 4, 3, 3), made()["pattern"], soft(2, 4, 5, 3)
    own = read_own(
        npz(encoder_attentions=encoder, decoder_attentions=decoder, cross_attentions=cross[:, None],
            encoder_tokens=np.array(TOKENS)), "a.npz",
    )  # fmt: skip
    assert list(own.stacks) == ["encoder.self", "decoder.self", "decoder.cross"]
    assert own.tokens == {"encoder": TOKENS, "decoder": [*"01234"]}
    np.testing.assert_array_equal(own.tensors["decoder.1.cross.pattern"], cross[1])


def refused_parts() -> list[tuple[dict[str, Any], str]]:
    one = made()
    pattern = one["pattern"]
    return [
        ({"pattern": pattern, "scores": one["raw"][:, ::-1]}, "has scores whose softmax is another pattern"),
        ({"pattern": pattern, "q": one["q"][:1]}, "has q of the shape (1, 4, 5, 8) beside patterns of (2, 4"),
        ({"pattern": pattern, "k": one["k"][:, :3]}, "has k of the shape (2, 3, 5, 8) beside patterns of (2"),
        ({"pattern": pattern, "v": one["v"] * np.nan}, "has v that are no finite numbers"),
        ({"pattern": pattern, "logits": np.ones((4, 3))}, "has logits of the shape (4, 3); give finite ones"),
        ({"pattern": pattern, "cross_attentions": soft(2, 4, 5, 3)}, "has arrays without a stack"),
        ({"decoder_attentions": pattern, "cross_attentions": soft(2, 4, 4, 3)}, "has 4 and 5 tokens in its"),
        ({"decoder_attentions": pattern, "decoder_tokens": np.array(["a"])}, "has 1 tokens for 5 positions"),
        ({"q": one["q"], "k": one["k"]}, "holds 'q', 'k', but no array named 'attention'"),
    ]  # fmt: skip


@pytest.mark.parametrize(("arrays", "said"), refused_parts())
def test_parts_that_do_not_fit_are_refused_in_a_sentence(arrays: dict[str, Any], said: str) -> None:
    assert refusal(npz(**arrays)).startswith(said)


def test_what_is_added_to_scores_is_said_and_hides_the_numbers_alone() -> None:
    one = made()
    biased = one["masked"] - np.abs(np.subtract.outer(np.arange(5), np.arange(5)))
    pattern = torch.tensor(biased).softmax(-1).numpy()
    own = read_own(npz(pattern=pattern, scores=biased, q=one["q"], k=one["k"], v=one["v"]), "a.npz")
    assert not own.stacks["decoder.self"]["whole"] and "no multiple of q · k" in own.note
