"""What is dear and what is not, and that a class's dear figures come from the process for them."""

import pytest

from models.limits import in_force
from models.zoo.offers import offers
from pages.explore import current, price
from pages.explore.payload import Opened
from pages.explore.state import Inputs
from pages.shared import dear, visitors


def words(count: int) -> str:
    return " ".join(f"w{at}" for at in range(count))


def test_the_price_grows_with_heads_layers_width_and_the_square_of_the_text() -> None:
    usual = price.seconds_of(Inputs("untrained", words(98)))
    assert usual == pytest.approx(2 * 4 * 100**2 * (6e-9 + 0.14e-9 * 16))
    assert price.seconds_of(Inputs("untrained", words(198))) == pytest.approx(4 * usual)
    assert price.seconds_of(Inputs("untrained", words(98), n_layers=8)) == pytest.approx(4 * usual)
    relative = Inputs("untrained", words(98), positions="transformer-xl")
    assert price.seconds_of(relative) == pytest.approx(1.8 * usual)


def test_what_is_shown_first_of_every_model_is_cheap() -> None:
    for name, offer in offers().items():
        assert 1_000 * price.seconds_of(Inputs(name, offer.text)) < 0.1 * in_force().cheap_ms, name


def test_only_what_is_dear_and_only_in_a_class_goes_to_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    went = []

    def run(function, *given, visitor, is_wanted):  # type: ignore[no-untyped-def]
        went.append((given, visitor))
        return function(*given)

    monkeypatch.setattr(dear.workshop, "run", run)
    small, large = (Inputs("untrained", words(count), n_layers=8, n_heads=16, seed=91) for count in (9, 160))
    for inputs in (small, large):
        monkeypatch.setattr(visitors, "is_class", lambda: False)
        alone = current.body_of(inputs, Opened())
        monkeypatch.setattr(visitors, "is_class", lambda: True)
        assert current.body_of(inputs, Opened()) is alone  # known already
    assert went == []
    other = Inputs("untrained", words(700), n_layers=8, n_heads=16, seed=92)
    body = current.body_of(other, Opened())
    assert [given for given, _ in went] == [(other, Opened())]
    assert current.body_of(other, Opened()) is body and len(went) == 1
