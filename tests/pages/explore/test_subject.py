import re
from typing import Any

import pytest

from pages.explore.state import SHOWCASE, Inputs
from pages.explore.subject import subject_of
from pages.shared import visitors
from tests.limits import SetLimits


def test_the_page_traces_what_the_model_decoded_unknown_words_included() -> None:
    from models import load_model

    text = "the robot did not eat the banana because it was too rotten"
    subject = subject_of(Inputs(text=text))
    expected = load_model("translator").trace(text)
    assert "<unk>" in expected.tokens["decoder"]
    assert [token["text"] for token in subject.tokens["decoder"]] == expected.tokens["decoder"]
    assert subject.run(None)["logits"].equal(expected["logits"])
    assert {found["where"] for found in subject.unknown} == {"text"}


def test_a_typed_target_is_forced_and_its_unknown_words_are_named() -> None:
    subject = subject_of(Inputs(text=SHOWCASE, target="l'animal zzz"))
    assert [token["text"] for token in subject.tokens["decoder"]] == ["<bos>", "l'", "animal", "zzz"]
    assert [(found["where"], found["word"]) for found in subject.unknown] == [("target", "zzz")]
    assert subject.extras["typed"] is True


def test_the_translation_sets_its_pronouns_apart() -> None:
    parts = subject_of(Inputs(text=SHOWCASE)).extras["translation"]
    assert [part["text"] for part in parts if part["strong"]] == ["il"]
    assert (
        "".join(part["text"] for part in parts)
        == "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
    )


def test_padding_of_the_source_is_on_the_axes_and_changes_no_output() -> None:
    plain, padded = subject_of(Inputs()), subject_of(Inputs(padding=3))
    assert [token["text"] for token in padded.tokens["encoder"][-4:]] == ["<eos>", "<pad>", "<pad>", "<pad>"]
    assert [(stack.n_query, stack.n_key) for stack in padded.stacks] == [(17, 17), (15, 15), (15, 17)]
    assert padded.extras == plain.extras
    close = (padded.run(None)["logits"] - plain.run(None)["logits"]).abs().max()
    assert close < 1e-4


def test_the_code_reproduces_the_trace() -> None:
    for inputs in (
        Inputs(),
        Inputs(padding=3),
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
        r"This takes 403 billion operations; at most 70 billion are computed for a figure; take at most "
        r"(\d+) tokens instead of 1,024, fewer layers or heads, or a smaller d_model or d_head\."
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
    with pytest.raises(ValueError, match="at most 1 billion are computed for a figure"):
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


def test_a_text_of_more_tokens_than_the_limit_is_refused(set_limits: SetLimits) -> None:
    text = " ".join(f"w{at}" for at in range(70))
    assert len(subject_of(Inputs("untrained", text)).tokens["encoder"]) == 70
    set_limits(explore_tokens=64)
    with pytest.raises(ValueError) as refused:
        subject_of(Inputs("untrained", text))
    assert str(refused.value) == (
        "The text has 70 tokens; at most 64 are shown here; shorten it, or open it on the page Long texts."
    )
