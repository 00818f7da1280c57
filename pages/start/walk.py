"""The walk: twelve stations through attention, each a page under a bar that says what to do there and what to
take away, and a last page with all that was learnt.

An address names the station, counted from 1, and the learner's own sentence: ?walk=5&own=<model>:<sentence>.
"""

import re
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

from attention_lab.models.zoo.catalogue import DEFAULT, offers
from attention_lab.pages.shared import st, words
from attention_lab.pages.shared.menu import open_page
from attention_lab.pages.shared.state import refuse

PICTURE = Path(__file__).with_name("model.svg").read_text("utf-8")
"""The whole model, its parts each of a class."""
END = "end"
"""What an address names after the last station."""


@dataclass(frozen=True, kw_only=True)
class Station:
    """One screen of the walk. link: what it opens. own: "model" where the learner's own sentence goes along
    with the model that reads it, "text" where only one of the first translator's words does. lit: parts of
    the picture. act: the thing to do; take: the sentence to take away.
    """

    title: str
    link: str
    lit: tuple[str, ...]
    act: str
    take: str
    own: str = ""

    @property
    def page(self) -> str:
        """The name of the page's folder."""
        return urlsplit(self.link).path.strip("/") or "explore"

    def params(self, own: str) -> dict[str, str]:
        """Those of the link with the own sentence, where the station can show it."""
        params = dict(parse_qsl(urlsplit(self.link).query))
        model, _, text = own.partition(":")
        if self.own and model == DEFAULT:
            params["text"] = text
        elif self.own == "model" and model == offers()[DEFAULT].wider:
            params |= {"model": model, "text": text}
        return params


STATIONS = tuple(
    Station(**station)
    for station in tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))["stations"]
)
PLACES = {str(at + 1): at for at in range(len(STATIONS))} | {END: len(STATIONS)}
"""The stations from 0, as addresses name them."""


def go(at: int) -> None:
    """Opens the station of this number, from 0, with the learner's own sentence; the end after the last one,
    "Start here" before the first.
    """
    own = st.session_state.get("own", "")
    named = {"own": own} if own else {}
    if not 0 <= at < len(STATIONS):
        open_page("start", {"walk": END, **named} if at > 0 else {})
    station = STATIONS[at]
    open_page(station.page, station.params(own) | {"walk": str(at + 1)} | named)


def bar(page: str, shown: Callable[[], str | None]) -> None:
    """Draws the bar of the station that the address names, where this page is the station's; at the end, all
    that was learnt. shown: the sentence that Explore shows, behind the name of the model that reads it.
    """
    asked, session = st.query_params.get("walk", ""), st.session_state
    if asked != session.get("walk", ""):  # Back and Forward change the address alone: the visitor arrives
        session.walk = asked
        session.pop("page", None)
        if asked and asked not in PLACES:
            refuse(f"The walk has no station {asked[:9]!r}; its stations are 1 to {len(STATIONS)}.")
    at, known, seen = PLACES.get(asked, -1), st.query_params.get("own", ""), shown()
    own = seen if page == "explore" and seen is not None else known or seen or ""
    session.own = own
    if page == "start" and asked == END:
        return _closing(own)
    if not 0 <= at < len(STATIONS) or STATIONS[at].page != page:
        return None
    station = STATIONS[at]
    rests = own and station.params(own) == station.params("")
    note = " <span>This is an example; your sentence comes back later.</span>" if rests else ""
    with st.container(key="walk", horizontal=True, vertical_alignment="center"):
        back = st.button("back", key="walk_back")
        st.html(f'<img class=model width=340 height=63 src="{picture(station.lit)}" alt="">', width="content")
        # A browser notes what was reached, as it notes predictions (viewer/browser/marks.js).
        st.html(
            f'<div data-predicted="walk/{at}/reached" data-right="1">'
            f"<b>Station {at + 1} of {len(STATIONS)}</b> · <b>{escape(station.title)}</b><br>"
            f"<span>{escape(station.act)}</span>{note}<br><em>{escape(station.take)}</em></div>"
        )
        if at + 1 < len(STATIONS):
            onward = st.button("next", key="walk_next", type="primary")
        else:
            onward = st.button("end", key="walk_next", type="primary")
        leaves = st.button("leave", key="walk_leave")
    if leaves or back or onward:
        go(-1 if leaves else at + 1 if onward else at - 1)
    return None


def _closing(own: str) -> None:
    """All that was learnt, a sentence a station, and where to go from here."""
    takes = (f"<li><b>{escape(each.title)}.</b> {escape(each.take)}</li>" for each in STATIONS)
    with st.container(key="walk_end"):
        st.html(
            "<h1 class=heard>Start here</h1><h2>You have walked through a transformer</h2>"
            f"<ol>{''.join(takes)}</ol>"
        )
        label = "Explore your own sentence further" if own else "Explore a sentence of your own"
        with st.container(horizontal=True):
            explores = st.button(label, key="walk_explore", type="primary")
            again = st.button("All stations", key="walk_again")
    if again:
        go(-1)
    if explores:
        open_page("explore", STATIONS[5].params(own))


def picture(lit: tuple[str, ...]) -> str:
    """The address of a picture of the whole model, with these parts lit."""
    svg = re.sub(r'class="([\w-]+)"', lambda each: each[0][:-1] + " lit" * (each[1] in lit) + '"', PICTURE)
    svg = re.sub(r"(?<=>)\w+(?=</text>)", lambda name: words.say(name[0]), svg)
    return "data:image/svg+xml," + quote(svg)
