"""What a question leads to: its model, its text, its settings and edits, and which are refused."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from attention_lab.models import load_model
from attention_lab.models.runs.owners import Ownership, Visitor, write_owned
from attention_lab.models.zoo.catalogue import MAX_NEW_TOKENS, offer_of
from attention_lab.pages.explore import figure, question
from attention_lab.pages.explore.question import Question, Writing, inputs_of, question_of_link
from attention_lab.pages.explore.state import SHOWCASE, Inputs
from attention_lab.pages.shared import visitors
from tests.limits import SetLimits
from tests.models.zoo.hub import families
from tests.pages.explore.answer_header import answered, changed, linked, shown
from tests.pages.shared.runs import write_run

FRENCH = "le chat a mangé la pomme"


@pytest.fixture(autouse=True)
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    return tmp_path


def refused(**asked: Any) -> str:
    """The sentence with which a question is refused."""
    with pytest.raises(ValueError) as caught:
        answered(**asked)
    return figure.as_sentence(str(caught.value))


def unknown(header: dict[str, Any]) -> list[str]:
    return [word["word"] for word in header["notes"].get("unknown", [])]


def typed(header: dict[str, Any], text: str, home: str = "translator") -> dict[str, Any]:
    """What is shown once a text was typed, where its first model is `home`."""
    return changed(header, text=text, fresh=True, widens=home)


# The text.


def test_a_link_to_a_run_opens_it_with_what_was_watched(runs: Path) -> None:
    model = write_run(runs, "reverse")
    opened = linked(model=model)
    offer = offer_of(model)
    assert offer is not None and offer.text.endswith("=")
    assert shown(opened) == (model, offer.text)
    assert opened["problems"] == []
    assert shown(linked(model=model, text="abc")) == (model, "abc")


def test_a_model_that_is_not_here_gives_way_to_the_translator_in_a_sentence() -> None:
    opened = linked(model="run:lost", text="abc")
    assert opened["problems"] == [
        "'run:lost' is no run with a checkpoint on this machine; the default is shown."
    ]
    assert shown(opened) == ("translator", SHOWCASE)
    opened = linked(model="gpt-9", view="head")
    assert opened["problems"][0].startswith("'gpt-9' is not among the models shown here, translator, ")
    assert shown(opened) == ("translator", SHOWCASE) and opened["linked"] == {"view": "head"}
    assert refused(model="gpt-9").endswith("; the previous model stays loaded.")


@pytest.mark.parametrize("text", ["99999", "9" * 4_400, "1" + "0" * 400, "-1", "²"])
def test_what_is_no_number_of_a_picture_is_said(runs: Path, text: str) -> None:
    """Python itself reads no number of more than 4,300 digits."""
    model = write_run(runs, "digits-classifier")
    assert shown(answered(model=model, text="8")) == (model, "8")
    sentence = refused(model=model, text=text)
    assert sentence.startswith(f"No picture has the number '{text[:40]}") and "type one from 1 to" in sentence


@pytest.mark.parametrize(
    ("task", "text", "prose"), [("induction", "abc", ""), ("language-model", "to be\nor not", "16")]
)
def test_a_model_goes_on_writing_and_keeps_the_end_of_what_it_can_read(
    runs: Path, task: str, text: str, prose: str
) -> None:
    lines = runs / "text.txt"
    lines.write_text("To be, or not to be:\nthat is the question.\n" * 40)
    model = write_run(runs, task, **({"file": str(lines), "length": 16} if prose else {}))
    opened = answered(model=model, text=text)
    assert opened["controls"]["reads"] == ("prose" if prose else "text") and "continue" in opened["abilities"]
    written = load_model(runs / task).generate(text, max_new_tokens=8, temperature=0)
    went_on = changed(opened, write={"temperature": 0.0, "n_new": 8, "seed": 3})
    assert shown(went_on) == (model, (text + written)[-16:] if prose else text + written)


def test_what_a_model_writes_follows_its_seed() -> None:
    inputs = Inputs("shakespeare", "to be")
    writings = [Writing(temperature=1, n_new=9, seed=seed) for seed in (1, 1, 2)]
    texts = [question.continued(inputs, writing).text for writing in writings]
    assert texts[0] == texts[1] != texts[2]


# Which model reads a text.


def test_a_text_in_the_other_language_is_read_as_asked_and_the_other_direction_is_one_press_away() -> None:
    opened = linked(text=FRENCH)
    advice = opened["notes"]["advice"]
    assert advice["text"].startswith("5 of these words are known in French only, 0 in English only")
    assert (advice["setting"], advice["value"], advice["better"]) == ("direction", "fr-en", "read FR → EN")
    settings = {**opened["asked"]["settings"], advice["setting"]: advice["value"]}
    heeded = changed(opened, settings=settings)
    assert shown(heeded) == ("translator", FRENCH) and "advice" not in heeded["notes"]
    assert heeded["asked"]["settings"]["direction"] == "fr-en"


def test_every_unknown_word_is_listed_with_what_is_near_it() -> None:
    words = linked(text="the cat sat on a mat near the zebra and the elefant")["notes"]["unknown"]
    assert [word["word"] for word in words] == ["sat", "mat", "zebra", "elefant"]
    assert words[2]["suggestions"] == [] and "elephant" in words[3]["suggestions"]


def test_a_typed_text_with_words_that_the_grammar_lacks_is_read_by_the_everyday_translator() -> None:
    text = "my grandmother baked a cake"
    widened = typed(linked(), text)
    assert shown(widened) == ("everyday", text)
    assert widened["notes"] == {
        "widened": {"model": "translator", "title": "translator", "lacking": ["grandmother", "baked"]}
    }
    back = changed(widened, model="translator")
    assert shown(back) == ("translator", text) and unknown(back)[0] == "grandmother"
    assert "widened" not in back["notes"]
    known = typed(widened, "the cat saw the dog")
    assert shown(known) == ("translator", "the cat saw the dog") and known["notes"] == {}


def test_a_link_and_who_went_back_stay_with_their_model() -> None:
    assert shown(linked(text="my grandmother baked a cake"))[0] == "translator"
    assert shown(changed(linked(), text="i love pizza", fresh=True))[0] == "translator"
    assert shown(typed(linked(model="translator-plain"), "i love pizza", "translator-plain"))[0] == "everyday"


def test_a_text_for_which_the_other_has_no_room_or_that_may_not_open_it_stays(set_limits: SetLimits) -> None:
    long = typed(linked(), "the grandmother saw the dog " * 20)
    assert shown(long)[0] == "translator" and "widened" not in long["notes"]
    set_limits(models=["translator"])
    assert shown(typed(linked(), "i love pizza"))[0] == "translator"


def test_a_typed_french_sentence_is_read_as_french() -> None:
    read = typed(linked(model="everyday"), "je mange une pomme", "everyday")
    assert shown(read)[0] == "everyday" and read["asked"]["settings"]["direction"] == "auto"
    assert read["tokens"]["encoder"][0]["text"] == "<2en>"
    assert "".join(part["text"] for part in read["translation"]) == "i eat an apple"


# The settings and the edits.


def test_another_model_keeps_the_settings_that_fit_and_drops_edits() -> None:
    opened = answered(settings={"beam": 3, "padding": 3}, edits="encoder.0.self heads 1: zero")
    assert opened["off"] == {"encoder.0.self": [1]}
    other = changed(opened, model="untrained", text="a b", settings={"beam": 3, "n_heads": 2, "seed": -1})
    assert other["asked"]["edits"] == "" and other["off"] == {}
    assert (other["asked"]["settings"]["n_heads"], other["asked"]["settings"]["seed"]) == (2, 0)
    assert "beam" not in other["asked"]["settings"]
    plain = changed(opened, model="translator-plain")
    assert (plain["asked"]["settings"]["beam"], plain["asked"]["settings"]["padding"]) == (3, 3)


@pytest.mark.parametrize("value", [True, 1.0, 99, "1", None])
def test_a_value_that_does_not_fit_is_refused_with_the_rule(value: Any) -> None:
    rule = f"Beam width: {value!r} is not a whole number from 1 to 8; the previous value is kept."
    assert refused(settings={"beam": value}) == rule
    assert refused(turned={"beam": value}) == rule


def test_another_text_resets_what_was_set_for_the_text() -> None:
    opened = answered(settings={"target": "le chat", "beam": 2})
    assert opened["typed"] is True
    fresh = changed(opened, text="the cat slept", fresh=True)
    assert (fresh["asked"]["settings"]["target"], fresh["asked"]["settings"]["beam"]) == ("", 2)


def test_a_turned_translator_reads_what_it_wrote() -> None:
    opened = linked(text="the cat saw the dog " * 12)  # whose translation never ended
    turned = changed(opened, turned={"direction": "fr-en"})
    assert turned["asked"]["settings"]["direction"] == "fr-en" and turned["notes"] == {}
    assert len(shown(turned)[1].split()) > 60 and shown(turned)[1].startswith("le chat")


def test_a_setting_that_is_turned_clears_its_argument() -> None:
    asked = {"model": "untrained", "text": "a b c", "settings": {"mask": "window", "mask_arg": "2"}}
    assert answered(**asked)["asked"]["settings"]["mask_arg"] == "2"
    assert answered(**asked, turned={"mask": "causal"})["asked"]["settings"]["mask_arg"] == ""


def test_a_size_that_is_turned_takes_another_with_it_and_says_so() -> None:
    asked: dict[str, Any] = {"model": "untrained", "text": "a b c", "turned": {"n_heads": 8}}
    followed = answered(**asked)
    assert followed["followed"] == "d_model = 128" and followed["stacks"][0]["heads"] == 8
    assert followed["sizes"]["n_heads"]["now"] == 8 and followed["sizes"]["d_head"]["now"] == 16
    assert answered(**asked, keeps="d_model")["followed"] == "d_head = 8"


def test_a_press_makes_an_edit_and_another_takes_it_back() -> None:
    press = {"line": "encoder.1.self heads 3: zero", "how": "toggle", "count": 0}
    once = changed(linked(), press=press)
    assert once["edits"] == ["encoder.1.self heads 3: zero"] and once["off"] == {"encoder.1.self": [3]}
    assert changed(once, press=press)["edits"] == []
    assert refused(press=press | {"line": "encoder.9.ff: zero"}).startswith("encoder.9.ff: the encoder")


def test_edits_that_are_too_long_are_refused() -> None:
    line = "encoder.0.ff: zero"
    long = "\n".join([line] * 210)
    press = {"line": "encoder.1.ff: zero" + " " * 60, "how": "put", "count": 0}
    assert len(long) < 4_000 < len(long) + 60
    assert "at most 4,000 are read" in refused(edits=long, press=press)


# Which models are opened for whom.


def test_anothers_run_is_no_other_than_one_that_is_not_here(
    runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visitors, "visitor", lambda: Visitor("ben"))
    model = write_run(runs, "reverse")
    write_owned(runs / "reverse", Ownership(owner="anna"))
    sentence = "'run:reverse' is no run with a checkpoint on this machine"
    assert linked(model=model)["problems"] == [f"{sentence}; the default is shown."]
    assert refused(model=model) == f"{sentence}; the previous model stays loaded."
    write_owned(runs / "reverse", Ownership(owner="anna", shared=True))
    assert shown(linked(model=model))[0] == shown(answered(model=model))[0] == model


def test_only_the_models_of_the_limits_are_shown(runs: Path, set_limits: SetLimits) -> None:
    set_limits(models=["translator", "induction"])
    assert [each["value"] for each in linked()["controls"]["models"]] == ["translator", "induction"]
    assert shown(linked(model="induction"))[0] == "induction"
    sentence = "'sparse' is not among the models shown here, translator, induction"
    opened = linked(model="sparse")
    assert opened["problems"] == [f"{sentence}; the default is shown."] and shown(opened)[0] == "translator"
    assert refused(model="sparse") == f"{sentence}; the previous model stays loaded."
    run = write_run(runs, "reverse")
    assert shown(linked(model=run))[0] == "translator"
    set_limits(models=["translator", "runs"])
    assert shown(linked(model=run))[0] == run


def test_in_a_class_no_folder_of_the_server_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = f"hf:{families.save('gpt2', tmp_path / 'gpt2')}"
    assert shown(answered(model=name))[0] == name
    monkeypatch.setattr(visitors, "is_class", lambda: True)
    monkeypatch.setattr(visitors, "visitor", lambda: Visitor("ben"))
    sentence = "Visitors cannot name folders of the server; give a model's name"
    assert refused(model=name) == f"{sentence}; the previous model stays loaded."
    assert linked(model=name)["problems"] == [f"{sentence}; the default is shown."]


# What is no question.


@pytest.mark.parametrize(
    "asked",
    [
        {"more": 1},
        {"model": "x" * 401},
        {"text": ["a"]},
        {"settings": {str(at): 1 for at in range(41)}},
        {"press": {"line": "a", "how": "toggle", "count": True}},
        {"beside": [{"type": "map"}] * 9},
        {"turned": {"n_heads": 1, "d_model": 2}},
        {"keeps": "n_layers"},
        {"write": {"temperature": float("nan"), "n_new": 1, "seed": 1}},
        {"write": {"temperature": 3, "n_new": 1, "seed": 1}},
        {"write": {"temperature": 1, "n_new": 0, "seed": 1}},
        {"write": {"temperature": 1, "n_new": MAX_NEW_TOKENS + 1, "seed": 1}},
        {"anew": -1},
    ],
)
def test_other_fields_kinds_and_sizes_are_refused(asked: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Question(**asked)


@pytest.mark.parametrize(
    "act", [{"type": "zzz"}, {"type": "map", "stack": 1}, {"type": "map", "stack": "encoder.self", "more": 1}]
)
def test_what_no_page_asks_beside_is_refused(act: dict[str, Any]) -> None:
    assert refused(beside=[act]) == "No page asks for this; reload."


def test_a_link_s_parts_are_told_apart() -> None:
    asked, sentences = question_of_link(
        {
            "model": "untrained",
            "text": "a b",
            "n_heads": "2",
            "seed": "x",
            "layer": "1",
            "view": "odd",
            "else": "1",
        }
    )
    assert asked == Question(model="untrained", text="a b", settings={"n_heads": 2}, link={"layer": "1"})
    assert [each.split(" is not ")[0] for each in sentences] == [
        "The link's seed='x'",
        "The link's view='odd'",
    ]
    assert inputs_of(asked)[0] == Inputs("untrained", "a b", n_heads=2)
