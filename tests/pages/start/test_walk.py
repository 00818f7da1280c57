"""The walk: every station opens what it names, as its link says, and lights parts of the picture."""

from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from attention_lab.pages.explore.question import question_of_link
from attention_lab.pages.shared.lab_stops import NAMES, part_of
from attention_lab.pages.shared.menu import PAGES
from attention_lab.pages.start import walk
from attention_lab.pages.start.walk import PICTURE, STATIONS, Station, picture


@pytest.mark.parametrize("station", STATIONS, ids=lambda station: station.title)
def test_a_station_opens_what_its_link_says(station: Station) -> None:
    params = dict(parse_qsl(urlsplit(station.link).query))
    assert station.page in PAGES
    if station.page in NAMES:
        assert part_of(station.page, params["part"])
    elif station.page == "explore":
        assert question_of_link(params)[1] == []


@pytest.mark.parametrize("station", STATIONS, ids=lambda station: station.title)
def test_a_station_lights_parts_of_the_picture(station: Station) -> None:
    svg = unquote(picture(station.lit)).partition(",")[2]
    assert station.lit and svg.count(' lit"') == len(station.lit)
    assert svg.replace(' lit"', '"') == PICTURE


@pytest.mark.parametrize("station", STATIONS, ids=lambda station: station.title)
def test_an_own_sentence_goes_along_where_the_station_can_show_it(station: Station) -> None:
    first, wide = station.params("translator:the cat sleeps"), station.params("everyday:hello there")
    assert station.params("shakespeare:ROMEO") == station.params("")
    assert first.get("text") == ("the cat sleeps" if station.own else None)
    assert (wide.get("model"), wide.get("text")) == (
        ("everyday", "hello there") if station.own == "model" else (None, None)
    )


def test_the_picture_s_words_are_in_the_visitor_s_language(monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"words": "Wörter", "order": "Reihenfolge"}
    monkeypatch.setattr(walk.words, "say", lambda word: words.get(word, word))
    svg = unquote(picture(("words",)))
    assert ">Wörter<" in svg and ">Reihenfolge<" in svg


@pytest.mark.parametrize(
    ("page", "seen", "own"),
    [
        ("explore", None, "everyday:hello"),  # the stage has drawn nothing yet
        ("explore", "", ""),  # the learner went back to the first sentence
        ("explore", "translator:the cat", "translator:the cat"),
        ("masks", "translator:the cat", "everyday:hello"),
    ],
)
def test_the_own_sentence_is_what_is_seen_or_else_that_of_the_address(
    page: str, seen: str | None, own: str
) -> None:
    def draw(page: str, seen: str | None) -> None:
        from attention_lab.pages.start import walk

        walk.bar(page, lambda: seen)

    at = AppTest.from_function(draw, args=(page, seen), default_timeout=60)
    at.query_params.update({"walk": "8" if page == "masks" else "4", "own": "everyday:hello"})
    assert at.run().session_state["own"] == own
