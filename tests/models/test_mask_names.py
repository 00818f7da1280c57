"""The masks that have a name: what pages offer is what the engine makes, and its examples work."""

import subprocess
import sys

import pytest

from models.engine import masks
from models.mask_names import MASK_TITLES, MASKS, about_argument


def test_every_mask_with_a_name_is_made_and_offered_in_the_order_of_its_kind() -> None:
    for mask in MASK_TITLES:
        assert masks.named(mask, "", 9).shape == (1, 1, 9, 9)
    assert list(dict.fromkeys(masks.kind_of(mask) for mask in MASK_TITLES)) == list(MASKS)
    assert list(MASK_TITLES.items())[2:6] == [
        ("padding", "padding"),
        ("causal+padding", "causal + padding"),
        ("window", "window"),
        ("causal+window", "causal + window"),
    ]


@pytest.mark.parametrize("name", [name for name, mask in MASKS.items() if mask.rule])
def test_each_example_is_an_argument_of_its_mask_and_what_an_empty_one_stands_for(name: str) -> None:
    allowed = masks.named(name, MASKS[name].example, 2 if name == "painted" else 9)
    if name not in ("edges", "painted"):
        assert allowed.equal(masks.named(name, "", 9))
    assert MASKS[name].meaning and about_argument(f"causal+{name}") == MASKS[name]


def test_a_mask_that_is_not_known_takes_no_argument() -> None:
    assert about_argument("10;11").rule == ""


def test_the_names_are_known_without_pytorch() -> None:
    code = "import sys, models.mask_names; sys.exit('torch' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
