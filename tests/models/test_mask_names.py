"""The masks that have a name: what pages offer is what the engine makes, and its examples work."""

from pathlib import Path

import pytest

from attention_lab.models.engine import masks
from attention_lab.models.engine.masks.core import KINDS
from attention_lab.models.mask_names import MASK_TITLES, MASKS, MaskName, about_argument, about_in


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


def test_what_a_file_says_of_its_mask_is_read_without_running_it(tmp_path: Path) -> None:
    file = tmp_path / "checkered.py"
    file.write_text('import nothing\nABOUT = MaskName(title="every other", rule="a row\\u2019s number")\n')
    assert about_in(file) == MaskName("every other", rule="a row\u2019s number", order=100)
    file.write_text("import nothing\n")
    with pytest.raises(ValueError, match=r"checkered\.py lacks ABOUT = MaskName\(title=\.\.\.\)"):
        about_in(file)


def test_every_file_makes_the_mask_that_it_is_named_after() -> None:
    assert set(KINDS) == set(MASKS)
    assert [*MASKS][:4] == ["none", "causal", "padding", "window"]


def test_a_mask_that_is_not_known_takes_no_argument() -> None:
    assert about_argument("10;11").rule == ""
