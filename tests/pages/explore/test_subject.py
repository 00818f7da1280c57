"""What is dear and what is not, and that a class's dear figures come from the process for them."""

import re
from pathlib import Path
from typing import Any

import pytest

from attention_lab.models.engine.size import trace_operations
from attention_lab.models.limits import in_force
from attention_lab.models.zoo.catalogue import offers
from attention_lab.pages.explore import figure
from attention_lab.pages.explore import subject as subject_module
from attention_lab.pages.explore.payload import Opened
from attention_lab.pages.explore.state import SHOWCASE, Inputs
from attention_lab.pages.explore.subject import subject_of
from attention_lab.pages.explore.waiting import Waiting
from attention_lab.pages.shared import visitors, work, work_process
from attention_lab.pages.shared.work import BILLION
from tests.limits import SetLimits
from tests.models.zoo.hub import families


def test_the_page_traces_what_the_model_decoded_unknown_words_included() -> None:
    from attention_lab.models import load_model

    text = "the robot did not eat the banana because it was too rotten"
    subject = subject_of(Inputs(text=text))
    expected = load_model("translator").trace(text)
    assert "<unk>" in expected.tokens["decoder"]
    assert [token["text"] for token in subject.tokens["decoder"]] == expected.tokens["decoder"]
    assert subject.run(None)["logits"].equal(expected["logits"])
    assert {found["where"] for found in subject.unknown} == {"text"}


def test_a_typed_target_is_forced_and_its_unknown_words_are_named() -> None:
    subject = subject_of(Inputs(text=SHOWCASE, target="l'animal zzz"))
    assert [token["text"] for token in subject.tokens["decoder"]] == ["<bos>", "l'", "animal", "<unk>"]
    assert subject.tokens["decoder"][-1]["typed"] == "zzz"
    assert [(found["where"], found["word"]) for found in subject.unknown] == [("target", "zzz")]
    assert subject.extras["typed"] is True


def test_the_translation_sets_its_pronouns_apart() -> None:
    parts = subject_of(Inputs(text=SHOWCASE)).extras["translation"]
    assert [part["text"] for part in parts if part["strong"]] == ["il"]
    assert (
        "".join(part["text"] for part in parts)
        == "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
    )


def test_the_code_reproduces_the_trace() -> None:
    for inputs in (
        Inputs(),
        Inputs(padding=3, target="le chat n'a pas traversé la rue"),
        Inputs(model="untrained", text="it's \"quoted\"\\ {x} '''); raise SystemExit"),
        Inputs(model="untrained", text="a b a", n_heads=2, mask="causal", attention_scale="0.5"),
        Inputs(model="untrained", text="a b a", mask="painted", mask_arg="110;001;111"),
    ):
        subject = subject_of(inputs)
        names: dict[str, Any] = {}
        exec(subject.code, names)
        address = "encoder.1.self.pattern"
        assert names["trace"][address].equal(subject.run(None)[address])


WORDS = " ".join(f"w{at}" for at in range(1_024))
LARGE = {"n_layers": 8, "n_heads": 16, "d_model": 512}


@pytest.fixture
def in_class(monkeypatch: pytest.MonkeyPatch) -> None:
    """Others wait for what is computed."""
    monkeypatch.setattr(visitors, "is_class", lambda: True)


@pytest.mark.usefixtures("in_class")
def test_what_would_take_all_others_time_is_refused_with_its_price_and_what_would_do() -> None:
    """The dearest reading that a link can ask for; then the longest of these sizes that is read."""
    dearest = Inputs("untrained", WORDS, **LARGE, d_head=128, positions="transformer-xl")
    refusal = (
        r"This takes 403 billion operations, over 70 billion; take at most (\d+) tokens instead of 1,024, "
        r"fewer layers or heads, or a smaller d_model or d_head\."
    )
    with pytest.raises(ValueError, match=refusal) as caught:
        subject_of(dearest)
    most = int(re.fullmatch(refusal, str(caught.value))[1])
    assert 200 < most < 500
    fitting = replace_text(dearest, " ".join(WORDS.split()[:most]))
    assert len(subject_of(fitting).tokens["encoder"]) == most
    with pytest.raises(ValueError, match="This takes 70 billion operations"):
        subject_of(replace_text(dearest, " ".join(WORDS.split()[: most + 1])))


def test_a_person_alone_may_wait_longer(set_limits: SetLimits) -> None:
    dear = Inputs("untrained", WORDS, **LARGE, d_head=128)
    assert len(subject_of(dear).tokens["encoder"]) == 1_024
    set_limits(alone_billions=1)
    with pytest.raises(ValueError, match="over 1 billion"):
        subject_of(dear)


@pytest.mark.usefixtures("in_class")
@pytest.mark.parametrize(
    "sizes",
    [
        {"n_layers": 2, "n_heads": 4, "d_model": 64},
        {"n_layers": 6, "n_heads": 12, "d_model": 384},
        {"n_layers": 8, "n_heads": 16, "d_model": 64},
        {"n_layers": 4, "n_heads": 4, "d_model": 64, "positions": "transformer-xl"},
    ],
)
def test_what_pages_have_always_shown_of_the_longest_text_still_is(sizes: dict) -> None:
    assert subject_of(Inputs("untrained", WORDS, **sizes)).stacks[0].n_query == 1_024


def replace_text(inputs: Inputs, text: str) -> Inputs:
    return Inputs(inputs.model, text, **inputs.settings)


def test_a_text_of_more_tokens_than_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = " ".join(f"w{at}" for at in range(70))
    assert len(subject_of(Inputs("untrained", text)).tokens["encoder"]) == 70
    monkeypatch.setattr(subject_module, "SHOWN_TOKENS", 64)
    with pytest.raises(ValueError) as refused:
        subject_of(Inputs("untrained", text))
    assert str(refused.value) == (
        "The text has 70 tokens; at most 64 are shown here; shorten it, or open it on the page Long texts."
    )


def words(count: int) -> str:
    return " ".join(f"w{at}" for at in range(count))


def test_the_price_is_that_of_the_model_that_will_be_made() -> None:
    inputs = Inputs("untrained", words(98), n_layers=3, n_heads=8, d_model=96, d_head=16, positions="t5")
    subject = subject_of(inputs)
    assert subject_module.operations_of(inputs) == trace_operations(subject.model.config, [98])
    for name, offer in offers().items():
        asked = Inputs(name, offer.text)
        read = subject_of(asked)
        lengths = [len(tokens) for tokens in read.tokens.values()]
        real = trace_operations(read.model.config, lengths)
        assert 0.7 * real <= subject_module.operations_of(asked), name


def test_what_is_shown_first_of_every_model_is_cheap_and_what_is_impossible_has_no_price() -> None:
    for name, offer in offers().items():
        assert (
            subject_module.operations_of(Inputs(name, offer.text)) < 0.1 * BILLION * in_force().cheap_billions
        ), name
    assert (
        subject_module.operations_of(Inputs("untrained", "a b", n_heads=7)) == 0
    )  # 64 columns do not divide so


def test_only_what_is_dear_and_only_in_a_class_goes_to_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    went = []

    def run(function, *given, place, is_wanted, **_):  # type: ignore[no-untyped-def]
        went.append((given, place))
        return function(*given)

    monkeypatch.setattr(work_process.figures, "call", run)
    small, large = (Inputs("untrained", words(count), n_layers=8, n_heads=16, seed=91) for count in (9, 160))
    for inputs in (small, large):
        monkeypatch.setattr(visitors, "is_class", lambda: False)
        alone = figure.body_of(inputs, Opened(), Waiting())
        monkeypatch.setattr(visitors, "is_class", lambda: True)
        assert figure.body_of(inputs, Opened(), Waiting()) is alone  # known already
    assert went == []
    other = Inputs("untrained", words(900), n_layers=8, n_heads=16, seed=92)
    body = figure.body_of(other, Opened(), Waiting())
    assert [given for given, _ in went] == [(other, Opened())]
    assert figure.body_of(other, Opened(), Waiting()) is body and len(went) == 1


def test_heads_that_are_no_equal_parts_of_the_stream_have_a_price(tmp_path: Path) -> None:
    sizes = {"d_model": 32, "d_kv": 8, "num_heads": 6}
    name = f"hf:{families.save('t5', tmp_path, **sizes)}"
    real = subject_of(Inputs(name, "the animal did not cross", target="it"))
    lengths = [len(tokens) for tokens in real.tokens.values()]
    assert subject_module.operations_of(real.inputs) > 0.7 * real.model.operations(lengths)


def test_edits_cost_a_pass_without_them_and_one_for_each_text_that_they_name() -> None:
    text, other = words(40), words(20)
    one, half = (subject_module.operations_of(Inputs("untrained", each)) for each in (text, other))

    def priced(*edits: str) -> int:
        return subject_module.operations_of(Inputs("untrained", text, "\n".join(edits)))

    assert priced("encoder.0.self heads 1: zero") == 2 * one
    taken = f'from "{other}"'
    assert priced(f"encoder.0.self at 1: {taken}", f"encoder.1.ff at 2: {taken}") == 2 * one + half
    assert priced(f'encoder.0.ff: mean of "{other}" "{text}"') == 2 * one + half + one
    assert priced("nonsense") == one
    cells = 4 * 40 * 40  # of all heads
    assert priced("encoder.0.self.pattern: uniform") == 2 * one + subject_module.PER_CELL * cells
    by_hand = "encoder.0.self.pattern heads 1 at 3: set 2=0.5"
    assert priced(by_hand, by_hand) == 2 * one + subject_module.PER_CELL * cells // 2
    many = "\n".join(f'encoder.0.ff at 0: from "a{at}"' for at in range(100))
    short = subject_module.operations_of(Inputs("translator", "a1"))
    assert subject_module.operations_of(Inputs("translator", "a", many)) > 100 * short


def test_edits_that_name_too_many_texts_are_refused_with_what_helps(monkeypatch: pytest.MonkeyPatch) -> None:
    texts = " ".join(f'"{words(12)} {at}"' for at in range(80))
    given = Inputs("untrained", words(12), f"encoder.0.ff: mean of {texts}", n_layers=8, n_heads=16)
    each = subject_of(given.unedited).model.operations([12])
    monkeypatch.setattr(work, "most_operations", lambda **said: 80 * each)
    with pytest.raises(ValueError, match="fewer texts in the edits, fewer layers or heads"):
        subject_of(given)
    subject_of(given.unedited)


def test_rows_of_cross_attention_name_the_word_read_and_the_one_written_next() -> None:
    subject = subject_of(Inputs(text=SHOWCASE))
    rows = [token["text"] for token in subject.rows(subject.stack("decoder.cross"))]
    assert rows[:2] == ["<bos> → l'", "l' → animal"] and rows[-1] == "fatigué → <eos>"
    assert "la → rue" in rows
    for name in ("encoder.self", "decoder.self"):
        stack = subject.stack(name)
        assert subject.rows(stack) == subject.tokens[stack.query_side]
    unknown = subject_of(Inputs(text=SHOWCASE, target="l'animal zzz"))
    rows = [token["text"] for token in unknown.rows(unknown.stack("decoder.cross"))]
    assert rows == ["<bos> → l'", "l' → animal", "animal → <unk>", "<unk> → <eos>"]
