"""What people read, looked up by Python and by JavaScript alike."""

import json
import re
import subprocess
import time

import pytest
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.lab.questions import questions_of
from attention_lab.pages.shared import words
from attention_lab.pages.shared.lab_stops import stop
from attention_lab.pages.shared.words import Catalogue
from tools.javascript import NODE, ROOT

GERMAN = Catalogue(
    "de",
    {
        "copy link": "Link kopieren",
        "key": "Schlüssel",
        "{0:n} channel": "{0} Kanal",
        "{0:n} channels": "{0} Kanäle",
        "With **{0}**, one key gets {1:n}.": "Bei **{0}** bekommt ein Schlüssel {1}.",
        "With **{0}** and no scale, nothing is known of {1}.": "Bei **{0}** ist von {1} nichts bekannt.",
        "{0} of {1}": "{0} von {1}",
        "{0:n} of {1:n} words": "{0:n} von {1} Wörtern",  # with or without the n
        "It falls.": "Es fällt.",
        "“{0}” looks at “{1}”.": "Auf „{1}“ sieht „{0}“.",
    },
)
SAID = {
    "copy link": "Link kopieren",
    " copy link ": " Link kopieren ",
    "1 channel": "1 Kanal",
    "1,024 channels": "1,024 Kanäle",
    "many channels": "many channels",
    "With **64 channels**, one key gets 2.4 × 10⁻⁷.": "Bei **64 Kanäle** bekommt ein Schlüssel 2.4 × 10⁻⁷.",
    # a message that was given a capital, a full stop, or both
    "Copy link.": "Link kopieren.",
    "Many channels. Copy link": "Many channels. Link kopieren",
    # what is filled in may be a token
    "With **key** and no scale, nothing is known of {0}.": "Bei **key** ist von {0} nichts bekannt.",
    # a message that says little is not looked for in what people type
    "a piece of cake": "a piece of cake",
    "30 of 32 words": "30 von 32 Wörtern",
    # what has no message stays English, line by line and sentence by sentence
    "It rises. It falls.": "It rises. Es fällt.",
    "It falls. It rises.\ncopy link": "Es fällt. It rises.\nLink kopieren",
    "It rises (Olsson et al. 2022). It falls.": "It rises (Olsson et al. 2022). Es fällt.",
    "": "",
}


def test_a_text_is_looked_up_whole_then_by_lines_then_by_sentences() -> None:
    assert {text: GERMAN.say(text) for text in SAID} == SAID


def test_a_browser_finds_the_same() -> None:
    program = f"""
      globalThis.attentionLabWords = {json.dumps(GERMAN.data)};
      const {{ t, tIfWords, tWith }} = await import("{ROOT}/viz_core/viewer/browser/words.js");
      const said = {json.dumps(list(SAID))}.map((text) => [text, t(text)]);
      const elements = [{{ of: "copy link" }}, {{ of: "key" }}];
      const looks = tWith`“${{elements[0]}}” looks at “${{elements[1]}}”.`;
      console.log(JSON.stringify([Object.fromEntries(said), t("key"), tIfWords("key"), looks]));
    """
    command = [NODE / "bin" / "node", "--input-type=module", "-e", program]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    looks = ["Auf „", {"of": "key"}, "“ sieht „", {"of": "copy link"}, "“."]
    assert json.loads(said) == [SAID, "Schlüssel", "key", looks]


def test_a_single_word_is_looked_up_where_no_axis_says_that_it_may_be_a_token() -> None:
    panel = {"rows": ["key"], "row_axis": "", "columns": ["key"], "column_axis": "token"}
    panel["chart"] = {"x": {"names": ["key"]}, "y": {"names": ["key"]}}
    bars = {"labels": ["key"], "axis": "", "x_label": "", "chart": {"x": {"names": ["key"]}}}
    tokens = bars | {"axis": "word"}
    program = f"""
      globalThis.attentionLabWords = {json.dumps(GERMAN.data)};
      const {{ read }} = await import("{ROOT}/viz_core/viewer/browser/words.js");
      console.log(JSON.stringify(JSON.parse({json.dumps(json.dumps([panel, bars, tokens]))}, read)));
    """
    command = [NODE / "bin" / "node", "--input-type=module", "-e", program]
    said = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    own = {"names": ["Schlüssel"]}
    assert said[0] == panel | {"rows": ["Schlüssel"], "chart": {"x": {"names": ["key"]}, "y": own}}
    assert said[1] == bars | {"labels": ["Schlüssel"], "chart": {"x": own}} and said[2] == tokens


def test_what_people_type_is_looked_up_in_no_time() -> None:
    begun = time.process_time()
    for typed in ("with and no scale " * 1_000, "With ** and no scale, " * 130, "of " * 900):
        assert words.catalogue("de").say(typed) == typed
    assert time.process_time() - begun < 5


@pytest.mark.parametrize("language", words.TRANSLATED)
def test_no_text_takes_long_to_tell_from_a_message(language: str) -> None:
    """Within a search for the end of a slot there is hardly another, whatever the message."""
    data = words.catalogue(language).data["filled"]
    searches = [len(re.findall(r"\(\.\*\??\)", pattern)) for each in data.values() for _, pattern, _ in each]
    assert max(searches) <= 3 and sum(n > 1 for n in searches) < 20
    pattern = re.compile(words.pattern_of("{0} of {1} of {2} of {3} of {4} words."))
    before = time.process_time()
    assert not pattern.fullmatch("a of " * 600)
    assert pattern.fullmatch("a of b of c of d of e of f words.").groups() == ("a", "b", "c", "d", "e of f")
    assert time.process_time() - before < 0.5  # it would take years


def test_messages_of_streamlit_are_read_in_the_visitors_language(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(words, "language", lambda: "de")
    monkeypatch.setattr(words, "catalogue", lambda language: GERMAN)
    message = ForwardMsg()
    element = message.delta.new_element
    element.button.label, element.button.id = "copy link", "copy link"
    words.translate(message)
    assert (element.button.label, element.button.id) == ("Link kopieren", "copy link")
    element.html.body = "<h1>copy link</h1> 1 &lt; 2 <b>key</b>"
    words.translate(message)
    assert element.html.body == "<h1>Link kopieren</h1> 1 &lt; 2 <b>Schlüssel</b>"
    element.selectbox.options[:] = ["copy link"]
    element.code.code_text = "copy link"
    words.translate(message)
    assert element.code.code_text == "copy link" and not element.selectbox.options


def test_every_language_has_a_catalogue_that_says_something() -> None:
    for language in words.TRANSLATED:
        assert words.catalogue(language).say("copy link") != "copy link"
    assert words.address("en") == "" and words.catalogue("en").say("copy link") == "copy link"


ENGLISH = re.compile(r"\b(the|of|and|are|with|to|that|its|which|from|by)\b")
"""Words that neither language has."""


FILLED = (
    *("“it” looks at “animal”: 0.997.", "To write “a” after “n'”, it looks at itself: 0.88."),
    *("“it” gets most from “was”, 0.40.", "“it” gives “animal” 0.997."),
    *("of its attention in layer 1 head 3", "of its attention, rolled out through all layers"),
    *("on average over 4 heads of layer 1", ", among keys 100–163", "; 0.30 on hidden tokens"),
    "After “i”, “z” is likeliest: 0.99, by the last linear layer and softmax.",
    "“it” asks: its query meets every key, and the better they fit, the higher the score.",
    *("For “it”, layer 1 head 3 blends all values into one, z; ", "“animal” has a share of 0.997."),
    *("1 the sentence", "2 the next letter asks", "5 a word is written"),
    *("Head is 3; less than 3 is asked for.", "In “A”: 'mosk' is no input of Masks; did you mean mask?"),
    "What the model writes does not have “elle”: “l'animal n'a pas traversé la rue”.",
    "There is no talk under 'abcde': ask for its link.",
    "How far the decoder's residual stream moved: ‖after − before‖ / ‖before‖",
    "weight on the first 4 (to compare, all keys alike: 0.15)",
    "maximum at one offset, share of words (to compare, a positional head: 0.90)",
)
"""What Explore says above its views, and what classes and halls are told, as the code fills it in."""


@pytest.mark.parametrize("language", words.TRANSLATED)
@pytest.mark.parametrize("sentence", FILLED)
def test_sentences_with_something_filled_in_are_whole_messages(sentence: str, language: str) -> None:
    said = words.catalogue(language).say(sentence)
    assert said != sentence and not ENGLISH.search(re.sub("„[^“]*“|«[^»]*»", "", said)), said


@pytest.mark.parametrize("language", words.TRANSLATED)
@pytest.mark.parametrize("name", ["attention", "softmax", "masks"])
def test_no_sentence_of_a_page_of_the_lab_is_english(name: str, language: str) -> None:
    say, page = words.catalogue(language).say, lab_page(name)
    for part in page.parts:
        lesson, label = part.lesson(page.inputs()), stop(name).parts[part.name].label
        notices = [lesson.board.notice] if isinstance(lesson.board.notice, str) else lesson.board.notice
        asked = [text for each in questions_of(page, part) for text in (each.ask, each.because)]
        titles = [
            panel.title for row in lesson.board.rows for panel in row if " " in getattr(panel, "title", "")
        ]
        for text in [lesson.see, *notices, *asked, *titles]:
            said = re.sub("„[^“]*“|«[^»]*»|`[^`]*`|#.*", "", say(text))  # tokens, titles of papers
            assert (said != text or text in titles) and not ENGLISH.search(said), f"{label}: {said}"
