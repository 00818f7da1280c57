"""Edits that fit no model or text: one sentence each, before anything is computed."""

from collections.abc import Callable

import pytest

from tests.models.interventions.conftest import Letters

Make = Callable[..., Letters]
TEXT = "abcabd"
REFUSED = {
    "encoder.0.self heads 2: zero": "encoder.0.self heads 2: head 2 is not there; give 0 to 1",
    "encoder.2.self: zero": "encoder.2.self: the encoder of 'letters' has no layer 2; give 0 to 1",
    "encoder.0.cross: zero": (
        "encoder.0.cross: this is not computed, or not seen, in 'letters'; of the layer it has self.q, "
        "self.k, self.v, self.z, self.pattern, self.out, ff.pre, ff.post, ff.out, resid_pre, resid_self, "
        "resid_post"
    ),
    "encoder.0.self at 6: zero": (
        "encoder.0.self at 6: position 6 is beyond the 6 tokens of the encoder; give 0 to 5"
    ),
    "decoder.0.cross.k at 6: zero": (
        "decoder.0.cross.k at 6: position 6 is beyond the 6 tokens of the encoder; give 0 to 5"
    ),
    "decoder.0.cross at 3: zero": (
        "decoder.0.cross at 3: position 3 is beyond the 3 tokens of the decoder; give 0 to 2"
    ),
    "decoder.0.cross.pattern at 1: only 6": (
        "decoder.0.cross.pattern at 1: key 6 is beyond the 6 tokens of the encoder; give 0 to 5"
    ),
    "decoder.0.cross.pattern: identity": (
        "decoder.0.cross.pattern: identity needs keys that are the queries themselves, and here they are "
        "another stack's; use only"
    ),
    "decoder.0.self.pattern at 1: only 2": (
        "decoder.0.self.pattern: position 1 may not look at position 2, which its mask hides; choose another "
        "key, or another row"
    ),
    'encoder.0.self: from "abc"': (
        "encoder.0.self: the other text has 3 tokens and this one 6, and positions are put one to one; "
        "give a text of as many tokens, or name positions with at"
    ),
    'encoder.0.self.pattern at 1: from "abc"': (
        "encoder.0.self.pattern at 1: the other text has 3 tokens and this one 6, and positions are put one "
        "to one; give a text of as many tokens, or name positions with at"
    ),
    'encoder.0.self at 3: from "abc"': (
        "encoder.0.self at 3: the other text has 3 tokens, so none at position 3; give a longer one, or "
        "another position"
    ),
    'encoder.0.self: from "xyz"': "only the letters a to j can be read; type some",
    "encoder.0.self: mean of reference": (
        "encoder.0.self: 'letters' brings no reference texts; write some, such as mean of \"a text\" "
        '"another"'
    ),
}


@pytest.mark.parametrize(("line", "sentence"), REFUSED.items())
def test_what_does_not_fit_the_model_or_the_text_is_refused(letters: Make, line: str, sentence: str) -> None:
    lm = letters("encoder-decoder")
    with pytest.raises(ValueError) as error:
        lm.trace(TEXT, edits=[line])
    assert str(error.value) == sentence


def test_a_stack_that_is_not_there_is_named(letters: Make) -> None:
    with pytest.raises(ValueError) as error:
        letters("decoder-only").trace(TEXT, edits=["encoder.0.self: zero"])
    assert str(error.value) == "encoder.0.self: 'letters' has no encoder; its stack is decoder"


def test_a_place_that_the_pass_never_reaches_is_said(letters: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = letters("encoder-only")
    monkeypatch.setattr(lm, "addresses", lambda: ["encoder.0.resid_cross"])
    with pytest.raises(ValueError, match=r"encoder\.0\.resid_cross: the model did not compute this"):
        lm.trace(TEXT, edits=["encoder.0.resid_cross: zero"])
