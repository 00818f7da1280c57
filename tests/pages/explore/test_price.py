"""What is dear and what is not, and that a class's dear figures come from the process for them."""

from pathlib import Path

import pytest

from models.engine.size import trace_operations
from models.limits import in_force
from models.zoo.offers import offers
from pages.explore import current, price
from pages.explore.payload import Opened
from pages.explore.state import Inputs
from pages.explore.subject import subject_of
from pages.shared import affordable, dear, visitors
from pages.shared.affordable import BILLION
from tests.models.zoo.hub import families


def words(count: int) -> str:
    return " ".join(f"w{at}" for at in range(count))


def test_the_price_is_that_of_the_model_that_will_be_made() -> None:
    inputs = Inputs("untrained", words(98), n_layers=3, n_heads=8, d_model=96, d_head=16, positions="t5")
    subject = subject_of(inputs)
    assert price.operations_of(inputs) == trace_operations(subject.model.config, [98])
    for name, offer in offers().items():
        asked = Inputs(name, offer.text)
        read = subject_of(asked)
        lengths = [len(tokens) for tokens in read.tokens.values()]
        real = trace_operations(read.model.config, lengths)
        assert 0.7 * real <= price.operations_of(asked), name


def test_what_is_shown_first_of_every_model_is_cheap_and_what_is_impossible_has_no_price() -> None:
    for name, offer in offers().items():
        assert price.operations_of(Inputs(name, offer.text)) < 0.1 * BILLION * in_force().cheap_billions, name
    assert price.operations_of(Inputs("untrained", "a b", n_heads=7)) == 0  # 64 columns do not divide so


def test_only_what_is_dear_and_only_in_a_class_goes_to_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    went = []

    def run(function, *given, visitor, is_wanted, **_):  # type: ignore[no-untyped-def]
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
    other = Inputs("untrained", words(900), n_layers=8, n_heads=16, seed=92)
    body = current.body_of(other, Opened())
    assert [given for given, _ in went] == [(other, Opened())]
    assert current.body_of(other, Opened()) is body and len(went) == 1


def test_heads_that_are_no_equal_parts_of_the_stream_have_a_price(tmp_path: Path) -> None:
    sizes = {"d_model": 32, "d_kv": 8, "num_heads": 6}
    name = f"hf:{families.save('t5', tmp_path, **sizes)}"
    real = subject_of(Inputs(name, "the animal did not cross", target="it"))
    lengths = [len(tokens) for tokens in real.tokens.values()]
    assert price.operations_of(real.inputs) > 0.7 * real.model.operations(lengths)


def test_edits_cost_a_pass_without_them_and_one_for_each_text_that_they_name() -> None:
    text, other = words(40), words(20)
    one, half = (price.operations_of(Inputs("untrained", each)) for each in (text, other))

    def priced(*edits: str) -> int:
        return price.operations_of(Inputs("untrained", text, "\n".join(edits)))

    assert priced("encoder.0.self heads 1: zero") == 2 * one
    taken = f'from "{other}"'
    assert priced(f"encoder.0.self at 1: {taken}", f"encoder.1.ff at 2: {taken}") == 2 * one + half
    assert priced(f'encoder.0.ff: mean of "{other}" "{text}"') == 2 * one + half + one
    assert priced("nonsense") == one
    cells = 4 * 40 * 40  # of all heads
    assert priced("encoder.0.self.pattern: uniform") == 2 * one + price.PER_CELL * cells
    by_hand = "encoder.0.self.pattern heads 1 at 3: set 2=0.5"
    assert priced(by_hand, by_hand) == 2 * one + price.PER_CELL * cells // 2
    many = "\n".join(f'encoder.0.ff at 0: from "a{at}"' for at in range(100))
    short = price.operations_of(Inputs("translator", "a1"))
    assert price.operations_of(Inputs("translator", "a", many)) > 100 * short


def test_edits_that_name_too_many_texts_are_refused_with_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = " ".join(f'"{words(12)} {at}"' for at in range(80))
    given = Inputs("untrained", words(12), f"encoder.0.ff: mean of {texts}", n_layers=8, n_heads=16)
    each = subject_of(given.unedited).model.operations([12])
    monkeypatch.setattr(affordable, "affordable", lambda **said: 80 * each)
    with pytest.raises(ValueError, match="fewer texts in the edits, fewer layers or heads"):
        subject_of(given)
    subject_of(given.unedited)
