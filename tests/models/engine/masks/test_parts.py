"""Masks in parts: whatever part is asked for is that of the whole mask."""

import pytest
import torch

from models.engine import masks
from models.mask_names import MASK_TITLES, MASKS

N = 30
PARTS = [(slice(0, N), slice(0, N)), (slice(7, 19), slice(3, 22)), (slice(29, 30), slice(0, 1))]


@pytest.mark.parametrize("name", MASK_TITLES)
def test_every_part_is_a_part_of_the_whole(name: str) -> None:
    whole = masks.named(name, "", N)[0]
    for rows, keys in PARTS:
        found = masks.in_parts(name, "", N)(rows, keys)
        assert found.expand(1, rows.stop - rows.start, -1).equal(whole[:, rows, keys])


@pytest.mark.parametrize(
    ("name", "argument"),
    [("strided", "7"), ("fixed", "5.2"), ("memory", "6.4"), ("packed", "4.9"), ("edges", "3-28 0-9 9-8")],
)
def test_arguments_count(name: str, argument: str) -> None:
    found = masks.in_parts(f"causal+{name}", argument, N)
    for rows, keys in PARTS:
        assert found(rows, keys)[0].equal(masks.named(f"causal+{name}", argument, N)[0, 0, rows, keys])


@pytest.mark.parametrize(
    ("name", "argument", "sentence"),
    [
        ("causal", "3", "takes no argument"),
        ("window", "0", "width=0 must be at least 1"),
        ("edges", "0-30", "edge 0-30 names a node that is not there"),
        ("painted", "10;11", "the painted mask has 2 rows, but there are 30 tokens"),
    ],
)
def test_what_no_mask_takes_is_refused_at_once(name: str, argument: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        masks.in_parts(name, argument, N)


def test_a_mask_of_too_many_tokens_is_never_whole() -> None:
    with pytest.raises(ValueError, match="mask 'window' of 32,768 tokens would hold 1,073,741,824 yes or no"):
        masks.named("window", "3", 32_768)
    part = masks.in_parts("causal+window", "3", 32_768)(slice(32_766, 32_768), slice(32_760, 32_768))
    assert part[0].long().tolist() == [[0, 0, 0, 0, 1, 1, 1, 0], [0, 0, 0, 0, 0, 1, 1, 1]]


def test_every_mask_but_the_painted_one_has_a_rule() -> None:
    assert [name for name in MASKS if masks.kind.KINDS[name].part is None] == ["painted"]


def test_several_masks_allow_what_all_allow() -> None:
    given = torch.rand(1, 1, N, generator=torch.Generator().manual_seed(0)) > 0.4
    both = masks.both(masks.in_parts("causal", "", N), None, masks.of_tensor(given))
    assert both is not None
    expected = masks.causal(N, N)[0] & given
    for rows, keys in PARTS:
        assert both(rows, keys).equal(expected[:, rows, keys])
    assert masks.both(None, None) is None


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        ("window", "2"),
        ("strided", "3"),
        ("fixed", "4.1"),
        ("prefix", "3"),
        ("memory", "4.1"),
        ("packed", "3.4"),
    ],
)
def test_no_mask_changes_where_a_text_goes_on(name: str, argument: str) -> None:
    whole = masks.named(name, argument, 20)
    for n in range(1, 20):
        assert torch.equal(masks.named(name, argument, n), whole[..., :n, :n])
