"""The masks that pages offer: what is offered is what the engine has, and its examples work."""

from models.engine import masks
from models.zoo.settings import MASK_ARGUMENTS, MASK_NAMES


def test_every_mask_offered_has_a_name_and_works() -> None:
    for mask in MASK_NAMES:
        assert masks.named(mask, "", 9).shape == (1, 1, 9, 9)


def test_every_kind_of_mask_that_the_engine_has_is_offered() -> None:
    assert {masks.kind_of(mask) for mask in MASK_NAMES} == set(masks.NAMED)


def test_an_argument_is_asked_for_where_the_mask_takes_one() -> None:
    assert set(MASK_ARGUMENTS) == {name for name, mask in masks.NAMED.items() if mask.argument}


def test_each_example_is_an_argument_of_its_mask() -> None:
    for mask, (example, _) in MASK_ARGUMENTS.items():
        n = 2 if mask == "painted" else 9
        allowed = masks.named(mask, example, n)
        if mask not in ("edges", "painted"):
            assert allowed.equal(masks.named(mask, "", n)), "the placeholder says what an empty argument does"
