"""Lines of edits: read, written, refused."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attention_lab.models import Edit
from attention_lab.models.interventions.edit import KINDS, PARTS, Place, read_change, read_edits
from attention_lab.models.interventions.kinds.mean import Mean
from attention_lab.models.interventions.kinds.painted import Set
from attention_lab.models.interventions.kinds.rows import Identity, Only, Uniform
from attention_lab.models.interventions.kinds.scale import Scale
from attention_lab.models.interventions.kinds.source import From
from attention_lab.models.interventions.kinds.zero import Zero
from tests.models.interventions.conftest import Letters

LINES = {
    "encoder.0.self heads 2,5: zero": "encoder.0.self heads 2,5: zero",
    "encoder.0.self.z heads 5,2,2 : zero ": "encoder.0.self heads 2,5: zero",
    "decoder.1.cross heads all: scale -1": "decoder.1.cross: scale -1.0",
    "encoder.00.self heads 0,1,2,3: mean": "encoder.0.self heads 0-3: mean",
    "encoder.0.self heads 1: mean of reference": "encoder.0.self heads 1: mean of reference",
    'encoder.0.ff.out: mean of "one: two"  "at"': 'encoder.0.ff: mean of "one: two" "at"',
    "encoder.1: off": "encoder.1: off",
    'encoder.1.self.q heads 3 at 4 - 6, 9: from "é \\" x"': (
        'encoder.1.self.q heads 3 at 4-6,9: from "é \\" x"'
    ),
    "decoder.1.self.pattern heads 3 at 10: set 4=0.8 1=.1 renormalised": (
        "decoder.1.self.pattern heads 3 at 10: set 1=0.1 4=0.8 renormalised"
    ),
    "encoder.1.self.pattern at 1: only 4,3": "encoder.1.self.pattern at 1: only 3,4",
    "encoder.embed at 0: zero": "encoder.embed at 0: zero",
}


@pytest.mark.parametrize(("line", "written"), LINES.items())
def test_a_line_is_read_and_written_in_one_way(line: str, written: str) -> None:
    edit = Edit.read(line)
    assert str(edit) == written.replace("scale -1.0", "scale -1")
    assert Edit.read(str(edit)) == edit


NUMBERS = st.none() | st.sets(st.integers(0, 99_999), min_size=1, max_size=6).map(tuple)
TEXTS = st.text(min_size=1).filter(lambda text: text.strip())
KEYS = st.integers(0, 999)
CELLS = st.dictionaries(KEYS, st.floats(0, 1), min_size=1).map(lambda cells: tuple(cells.items()))
OF_VALUES = st.one_of(
    st.tuples(st.just(Zero)),
    st.tuples(st.just(Scale), st.floats(-1e6, 1e6)),
    st.tuples(st.just(Mean), st.lists(TEXTS, max_size=3).map(tuple)),
    st.tuples(st.just(Mean), st.just(()), st.just(True)),
    st.tuples(st.just(From), TEXTS),
)
OF_PATTERNS = st.one_of(
    st.tuples(st.just(Uniform)),
    st.tuples(st.just(Identity)),
    st.tuples(st.just(Only), st.sets(KEYS, min_size=1, max_size=4).map(lambda keys: tuple(sorted(keys)))),
    st.tuples(st.just(Set), CELLS),
    st.tuples(st.just(Set), st.tuples(st.tuples(KEYS, st.floats(0, 1))), st.just(True)),
)
STACKS = st.sampled_from(["encoder", "decoder"])


@given(STACKS, st.integers(0, 99), st.sampled_from(PARTS), NUMBERS, NUMBERS, OF_VALUES, OF_PATTERNS)
@settings(deadline=None, derandomize=True, max_examples=200)
def test_every_edit_is_its_line(
    stack: str, layer: int, part: str, heads: Any, at: Any, of_values: Any, of_patterns: Any
) -> None:
    kind, *fields = of_patterns if part.endswith("pattern") else of_values
    no_heads = part.startswith(("ff", "resid")) or part.endswith("out")
    edit = Edit(Place(f"{stack}.{layer}.{part}", None if no_heads else heads, at), kind(*fields))
    line = str(edit)
    assert Edit.read(line) == edit
    assert str(Edit.read(line)) == line and "\n" not in line


@given(
    st.text(max_size=60)
    | st.sampled_from(list(LINES)).flatmap(lambda line: st.text(max_size=5).map(line.__add__))
)
@settings(deadline=None, derandomize=True, max_examples=300)
def test_any_text_is_an_edit_or_one_sentence(text: str) -> None:
    try:
        Edit.read(text)
    except ValueError as error:
        assert "; " in str(error) and "\n" not in str(error) and len(str(error)) < 400


REFUSED = {
    "": "'' is no edit; write place: change, such as encoder.0.self heads 2,5: zero",
    "encoder": "'encoder' is no edit; write place: change, such as encoder.0.self heads 2,5: zero",
    "head 3: zero": "'head 3' names no place; write such as encoder.0.self heads 2,5 at 4-6",
    "middle.0.self: zero": (
        "'middle.0.self' is no address; write stack, layer and part, such as encoder.0.self or decoder.1.ff"
    ),
    "encoder.0.scores: zero": re.compile("'scores' of a layer cannot be edited; "),
    "encoder.0.self.scores: zero": re.compile("'self.scores' of a layer cannot be edited; "),
    "encoder.0.self heads 5-2: zero": "heads '5-2' is no list of whole numbers; write such as 2,5-7",
    "encoder.0.self at -1: zero": "at '-1' is no list of whole numbers; write such as 2,5-7",
    "encoder.0.ff heads 1: zero": "encoder.0.ff has no heads of its own; leave heads out",
    "encoder.0: zero": "'zero' does not fit encoder.0; a layer can only be off",
    "encoder.0.self: off": "'off' does not fit encoder.0.self; off fits a whole layer, such as encoder.1",
    "encoder.0.self: uniform": (
        "'uniform' does not fit encoder.0.self; uniform fits a pattern, such as encoder.1.self.pattern"
    ),
    "encoder.0.self.pattern: mean": (
        "'mean' does not fit encoder.0.self.pattern; a pattern takes zero, scale, from, uniform, identity, "
        "only or set"
    ),
    "encoder.0.self: zeros": "'zeros' is no change; did you mean zero?",
    "encoder.0.self: zero it": "'zero' is followed by 'it'; leave that out",
    "encoder.0.self: scale much": "scale 'much' is no number; give such as -1 or 0.5",
    "encoder.0.self: scale nan": "scale nan is no number from -1,000,000 to 1,000,000; give such as -1",
    "encoder.0.self: from": 'from is followed by 0 texts; give one, such as from "another text"',
    'encoder.0.self: from " "': 'a text to take values from is empty; write such as from "another text"',
    "encoder.0.self: from text": "'text' is no text in double quotes; write such as from \"another text\"",
    "encoder.0.self: mean of": (
        "mean 'of' says not of what; write mean, mean of reference, or mean of \"a text\""
    ),
    "encoder.0.self.pattern: set": "set names no key; write such as set 4=0.8 renormalised",
    "encoder.0.self.pattern: set 1=0.5 1=0.2": "set names a key twice; write such as set 4=0.8 renormalised",
    "encoder.0.self.pattern: set 4=nan": (
        "the weight nan of key 4 is not from 0 to 1; give such as set 4=0.8 renormalised"
    ),
    "encoder.0.self.pattern: set 4=0.8 5=0.5 renormalised": (
        "the weights of a renormalised row sum to 1.3; give at most 1, or leave renormalised out"
    ),
    "encoder.0.self.pattern: only all": "only all keys is uniform; write uniform",
}


@pytest.mark.parametrize(("line", "sentence"), REFUSED.items())
def test_what_is_no_edit_is_refused_in_a_sentence(line: str, sentence: str | re.Pattern[str]) -> None:
    with pytest.raises(ValueError) as error:
        Edit.read(line)
    if isinstance(sentence, str):
        assert str(error.value) == sentence
    else:
        assert sentence.match(str(error.value))


def test_every_kind_has_an_example_that_is_itself() -> None:
    read_change("zero")
    for word, kind in KINDS.items():
        assert str(read_change(kind.example)) == kind.example
        assert kind.word == word and kind.meaning and kind.places


def test_edits_are_lines_or_edits_or_one_text() -> None:
    one, other = "encoder.0.self heads 1: zero", "encoder.1: off"
    assert [str(edit) for edit in read_edits(f"{one}\n\n{other}\n")] == [one, other]
    assert read_edits([one, Edit.read(other)]) == read_edits(f"{one}\n{other}")
    assert read_edits(Edit.read(one)) == read_edits(one)
    with pytest.raises(ValueError, match="201 edits are too many for one pass; give at most 200"):
        read_edits([one] * 201)


@pytest.mark.parametrize("heads", [(-1,), (True,), ()])
def test_numbers_of_a_place_are_whole(heads: tuple) -> None:
    with pytest.raises(ValueError, match="; "):
        Place("encoder.0.self", heads)


def test_a_long_line_that_names_no_place_is_refused_at_once() -> None:
    for words in ("1," * 1900 + "1 x y", "- " * 1900, " " * 3900 + "x", "1 at " * 700):
        with pytest.raises(ValueError, match=r"names no place|is no list of whole numbers"):
            Edit.read(f"encoder.0.self heads {words}: zero")


def test_a_list_of_too_many_numbers_is_refused() -> None:
    assert Edit.read("encoder.0.self at 0-4095: zero").place.at == tuple(range(4_096))
    for numbers in ("0-4096", "0-99999", "0-3000,5000-8000"):
        with pytest.raises(ValueError, match="more than 4,096 numbers; name fewer, or write all"):
            Edit.read(f"encoder.0.self at {numbers}: zero")


def test_half_of_a_character_is_no_text() -> None:
    with pytest.raises(ValueError, match="half of a character; write"):
        Edit.read(r'encoder.0.self: from "an \ud800 animal"')
    assert Edit.read(r'encoder.0.self: from "\ud83d\ude00"').change.texts == ("😀",)


Make = Callable[..., Letters]
TEXT = "abcabd"
REFUSED_BY_MODEL = {
    "encoder.0.self heads 2: zero": "encoder.0.self heads 2: head 2 is not there; give 0 to 1",
    "encoder.2.self: zero": "encoder.2.self: the encoder of 'letters' has no layer 2; give 0 to 1",
    "encoder.0.cross: zero": (
        "encoder.0.cross: 'letters' does not compute this, or hides it; of the layer it has self.q, "
        "self.k, self.v, self.z, self.pattern, self.out, ff.pre, ff.post, ff.out, resid_pre, resid_self, "
        "resid_post"
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
        "decoder.0.cross.pattern: identity needs keys that are the queries, but here another stack's are; "
        "use only"
    ),
    "decoder.0.self.pattern at 1: only 2": (
        "decoder.0.self.pattern: the mask hides position 2 from 1; choose another key, or another row"
    ),
    'encoder.0.self: from "abc"': (
        "encoder.0.self: the other text has 3 tokens, this one 6; give texts of equal length, or name "
        "positions with at"
    ),
    'encoder.0.self.pattern at 1: from "abc"': (
        "encoder.0.self.pattern at 1: the other text has 3 tokens, this one 6; give texts of equal length, "
        "or name positions with at"
    ),
    'encoder.0.self at 3: from "abc"': (
        "encoder.0.self at 3: the other text has only 3 tokens, none at position 3; give a longer one, or "
        "another position"
    ),
    'encoder.0.self: from "xyz"': "only the letters a to j can be read; type some",
    "encoder.0.self: mean of reference": (
        "encoder.0.self: 'letters' brings no reference texts; write some, such as mean of \"a text\" "
        '"another"'
    ),
}


@pytest.mark.parametrize(("line", "sentence"), REFUSED_BY_MODEL.items())
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
