"""Attention from files of one's own: what each format gives, and the sentence for every wrong array."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save
from safetensors.torch import save as save_torch

from models import read_attention
from models.files import FileError
from models.zoo.own.arrays import read_own
from models.zoo.own.kept import open_kept, to_keep
from models.zoo.own.model import of_kept
from tests.models.zoo.own.handed_in import GIVEN, LAYERS, NAMED, TOKENS, as_json, npz, refusal, soft


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
    np.testing.assert_array_equal(own.weights, GIVEN)
    assert own.weights.dtype == np.float32
    assert (own.title, own.queries, own.keys) == (name, TOKENS, None)
    assert own.note == "Only weights were handed in, no queries, keys, values or scores."


def test_a_matrix_may_be_rectangular_and_a_list_alone() -> None:
    matrix = soft(2, 3)
    own = read_own(as_json(attention=matrix.tolist(), query_tokens=["a", "b"], key_tokens=TOKENS), "m.json")
    assert own.weights.shape == (1, 1, 2, 3)
    assert (own.queries, own.keys) == (["a", "b"], TOKENS)
    own = read_own(json.dumps(matrix.tolist()).encode(), "m.json")
    assert (own.queries, own.keys) == (["0", "1"], ["0", "1", "2"])
    assert read_own(json.dumps(soft(2, 3, 3).tolist()).encode(), "m.json").weights.shape == (1, 2, 3, 3)


def test_square_attention_to_other_tokens_keeps_both_lists() -> None:
    own = read_own(
        npz(attention=soft(3, 3), query_tokens=np.array([*"abc"]), key_tokens=np.array(TOKENS)), "a.npz"
    )
    assert (own.queries, own.keys) == ([*"abc"], TOKENS)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_, np.float16])
def test_numbers_of_every_kind_are_converted(dtype: type) -> None:
    own = read_own(npz(attention=np.eye(3, dtype=dtype)), "a.npz")
    np.testing.assert_array_equal(own.weights[0, 0], np.eye(3, dtype=np.float32))


def test_halves_that_safetensors_knows_are_converted_to_the_bit() -> None:
    given = torch.from_numpy(GIVEN)
    for dtype in (torch.float16, torch.bfloat16):
        own = read_own(save_torch({"attention": given.to(dtype)}), "a.safetensors")
        np.testing.assert_array_equal(own.weights, given.to(dtype).float().numpy())
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
    np.testing.assert_array_equal(own.weights, weights)
    assert own.note.startswith(
        "2 of 6 rows do not add up to 1 (sums 0 to 0.5): shown as they are, measured by"
    )


def spoilt(value: float) -> np.ndarray:
    weights = soft(1, 2, 3, 3)
    weights[0, 1, 2, 0] = value
    return weights


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"attention": spoilt(np.nan)}, "has the weight nan at [0, 1, 2, 0], which is no finite number"),
        ({"attention": spoilt(np.inf)}, "has the weight inf at [0, 1, 2, 0], which is no finite number"),
        ({"attention": spoilt(-0.5)}, "has the weight -0.5 at [0, 1, 2, 0], which is negative, as 1 of"),
        ({"attention": spoilt(3.0)}, "has the weight 3 at [0, 1, 2, 0], which is more than 1"),
        ({"attention": np.full((2, 2), 1e300)}, "has the weight inf at [0, 0, 0, 0]"),
        ({"attention": np.ones(3)}, "has attention of the shape (3,); give [layer, head, query, key]"),
        ({"attention": np.ones((2, 2, 2, 2, 2))}, "has attention of the shape (2, 2, 2, 2, 2); give [layer"),
        ({"attention": np.ones((2, 0, 2, 2))}, "has attention of the shape (2, 0, 2, 2), without a weight"),
        ({"attention": np.eye(2) + 0j}, "has weights that are no numbers (complex128)"),
        ({"attention": np.array([["a"]])}, "has weights that are no numbers (<U1)"),
        (NAMED | {"tokens": np.array(["a"])}, "has 1 tokens for 3 query positions; give one token for each"),
        ({"attention": soft(2, 3), "tokens": np.array(TOKENS)}, "has one list of tokens for 2 queries and 3"),
        (NAMED | {"tokens": np.array([TOKENS])}, "has 'tokens' that is no list of texts"),
        (NAMED | {"tokens": np.array(["a" * 1_001] * 3)}, "has 3 tokens, the longest of 1,001 characters"),
        ({"attention": np.ones((5_000, 1, 1))}, "has 1 layers of 5,000 heads, if its axes are [layer, head"),
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
    kept = open_kept(kept_path)
    assert (kept.title, kept.n_layers, kept.n_heads) == ("a.npz", 2, 2)
    assert (kept.queries, kept.keys, kept.note) == (["0", "1"], TOKENS, own.note)
    trace = of_kept(kept, lambda: kept_path).trace()
    assert list(trace.keys()) == ["decoder.0.cross.pattern", "decoder.1.cross.pattern"]
    assert trace.tokens == {"encoder": TOKENS, "decoder": ["0", "1"]}
    np.testing.assert_array_equal(trace["decoder.1.cross.pattern"].numpy(), own.weights[1])
    kept_path.write_bytes(to_keep(own)[:-1])
    with pytest.raises(FileError, match="the file of these tensors is damaged; hand them in again"):
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
    assert lm.code("") == f"from models import read_attention\ntrace = read_attention({str(path)!r}).trace()"
    with pytest.raises(ValueError, match="an edit changes what a model computes, and here is none"):
        lm.trace(edit=lambda address, tensor: tensor)
