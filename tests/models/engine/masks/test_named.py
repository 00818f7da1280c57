"""Masks by name and argument: each is the function it names, and a bad argument is a sentence."""

import pytest
import torch

from models.engine import masks
from models.mask_names import MASKS


@pytest.mark.parametrize(
    ("name", "argument", "expected"),
    [
        ("none", "", torch.ones(1, 1, 9, 9, dtype=torch.bool)),
        ("causal", "", masks.causal(9, 9)),
        ("padding", "2", (torch.arange(9) < 7).expand(1, 1, 9, 9)),
        ("padding", "20", torch.zeros(1, 1, 9, 9, dtype=torch.bool)),
        ("window", "2", masks.sliding_window(9, 2, two_sided=True)),
        ("causal+window", "2", masks.sliding_window(9, 2)),
        ("strided", "3", masks.strided(9, 3)),
        ("fixed", "3.2", masks.fixed(9, 3, 2)),
        ("prefix", "5", masks.prefix(9, 5)),
        ("packed", "4.3", masks.packed(torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2]))),
        ("packed", "4.3.100", masks.packed(torch.tensor([0, 0, 0, 0, 1, 1, 1, 2, 2]))),
        ("causal+packed", "9", masks.causal(9, 9)),
        ("memory", "3.2", masks.memory(9, 3, 2)),
        ("edges", "0-1 8-2", masks.edges(9, [(0, 1), (8, 2)])),
        ("painted", ";".join(["010101010"] * 9), masks.painted(";".join(["010101010"] * 9))),
    ],
)
def test_a_name_and_an_argument_give_the_mask(name: str, argument: str, expected: torch.Tensor):
    mask = masks.named(name, argument, 9)
    assert mask.shape == (1, 1, 9, 9)
    assert mask.equal(expected)


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("n", [1, 2, 13, 32])
def test_an_empty_argument_is_one_that_suits_any_number_of_tokens(name: str, n: int):
    usual = masks.named(name, masks.usual(name, n), n)
    assert masks.named(name, "", n).equal(usual)
    assert bool(MASKS[name].rule) == (name not in ("none", "causal"))


def test_causal_with_any_mask_hides_what_comes_later():
    for name in MASKS:
        both = masks.named(f"causal+{name}", "", 7)
        assert both.equal(masks.named(name, "", 7) & masks.causal(7, 7))
        assert masks.kind_of(f"causal+{name}") == masks.kind_of(name) == name


@pytest.mark.parametrize(
    ("name", "argument", "sentence"),
    [
        ("banded", "", "mask='banded' is unknown; choose one of none, causal, padding, window, strided, "
                       "fixed, prefix, packed, memory, edges, painted, or causal+ one of them"),
        ("causal+causal+causal", "", "mask='causal+causal+causal' is unknown"),
        ("causal", "3", "mask 'causal' takes no argument, but got '3'; leave it out"),
        ("window", "three", "argument 'three' of mask 'window' is not a width in tokens; try '4'"),
        ("causal+window", "-1", "argument '-1' of mask 'window' is not a width in tokens; try '4'"),
        ("window", "3.4", "argument '3.4' of mask 'window' is not a width in tokens; try '4'"),
        ("window", "9" * 5000, "is not a width in tokens; try '4'"),
        ("window", "٣", "is not a width in tokens; try '4'"),
        ("window", "0", "width=0 must be at least 1; try width=4"),
        ("fixed", "4", "argument '4' of mask 'fixed' is not a block's length and how many of its last tokens "
                       "all later ones see, with a dot between; try '4.1'"),
        ("packed", "4..3", "argument '4..3' of mask 'packed' is not the documents' lengths"),
        ("packed", "4.0", "a document of 0 tokens does not exist; give lengths of at least 1"),
        ("edges", "0-1,1-2", "argument '0-1,1-2' of mask 'edges' is not pairs of nodes with spaces between; "
                             "try '0-1 1-2'"),
        ("edges", "0-9", "edge 0-9 names a node that is not there; the nodes are 0 to 8"),
        ("painted", "10;01", "the painted mask has 2 rows, but there are 9 tokens; paint 9, "
                               "or give as many tokens"),
        ("painted", ";" * 8, "row 1 of the painted mask is '', not 9 cells of 0 or 1"),
    ],
)  # fmt: skip
def test_a_bad_argument_is_refused_in_a_sentence(name: str, argument: str, sentence: str):
    with pytest.raises(ValueError) as error:
        masks.named(name, argument, 9)
    assert sentence in str(error.value)


def test_nobody_paints_a_long_text():
    with pytest.raises(ValueError, match="33 tokens are too many to paint a mask for; give at most 32"):
        masks.named("painted", "", 33)
