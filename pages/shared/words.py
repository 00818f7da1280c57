"""What people read, in their language.

Everything is computed, cached, queued and stored in English, by whichever process; what leaves the server,
and what a browser draws, is looked up in a catalogue there (here, and in viz_core/viewer/browser/words.js).
So no cache needs a language, and a message that two visitors share is read by each in his own.

A catalogue (languages/<language>.po; tools/words.py finds and checks its messages) has a message for each
text of the sources. {0} stands for what is filled in, {0:n} for a number. A text is looked up as a whole,
else line by line, else sentence by sentence; what has no entry stays English. What is filled in stays as it
is, and so do tokens and what people typed; but several words that are a message of their own are looked up,
too.
"""

import html
import itertools
import json
import re
from collections.abc import Callable, Mapping
from functools import cache, lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from babel.messages.pofile import read_po

from attention_lab.pages.shared import phrases, st

FOLDER = Path(__file__).with_name("languages")
NAMES = {"en": "English", "de": "Deutsch", "fr": "Français"}
"""The languages on offer, each by its own name."""
TRANSLATED = [code for code in NAMES if code != "en"]
SLOT = re.compile(r"\{(\d+)(:n)?\}")
_NUMBER = r"[-−+±≈<>]?\s?\d[\d.,]*(?:\s?[×·e^/][-−+\s]?\d+)?[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]*\s?%?|[-−]?∞|NaN|'[^']*'"
"""A number, or a value in quotation marks, as the code writes it."""
_LETTERS = re.compile(r"[^\W\d_]+")
_CUTS = [
    re.compile(cut) for cut in (r"(\n+)", r"((?<=[.!?])(?<! al\.)[*\])”\"]*\s+)", r"((?<=[:;])[*\])”\"]*\s+)")
]
"""Where a text is cut that has no message of its own: into lines, sentences, clauses."""
_LIST = re.compile("(, and |, or | and | or |, )")
_AROUND = " →←·:*0123456789"
"""What may stand around words that are a message."""
LONGEST = 3_000
"""The characters of a text that is looked up: none of ours is longer, what people typed may be."""


class Catalogue:
    """The messages of one language. `say` looks up a text; `data` is what words.js does so with."""

    def __init__(self, language: str, messages: Mapping[str, str]) -> None:
        whole = {english: text for english, text in messages.items() if not SLOT.search(english)}
        filled: dict[str, list[tuple[int, str, str]]] = {}
        for english in messages.keys() - whole.keys():
            words = _LETTERS.findall(SLOT.sub(" ", english))
            entry = (len(SLOT.sub("", english)), pattern_of(english), messages[english])
            filled.setdefault(max(words, key=len, default=""), []).append(entry)
        self.data = {"language": language, "whole": whole, "filled": filled}
        self._whole, self._entries = whole, filled
        self.say, self._found = lru_cache(maxsize=20_000)(self._say), lru_cache(maxsize=20_000)(self._find)

    def _say(self, text: str) -> str:
        if not text.strip() or len(text) > LONGEST:
            return text
        return self._found(text) or self._parts(text, self.say) or text

    def _find(self, text: str) -> str | None:
        """A text in whole; None where some of it has no message."""
        inner, forms = text.strip(), _forms(text)
        line = " ".join(text.split()) if "\n" in text else text
        if line in self._whole:
            return self._whole[line]
        for form in forms if inner == text else ():
            if said := self._whole.get(form) or self._parts(form, self._found):
                return _alike(said, text, form)
        if inner == text:
            if said := self._filled(text, forms):
                return said
            inner = text.strip(_AROUND)
            if " " not in inner:  # a single word in bold may be a name
                inner = text.strip(_AROUND.replace("*", ""))
        said = self._found(inner) if inner and inner != text else None
        return said and text.replace(inner, said, 1)

    def _parts(self, text: str, say: Callable[[str], str | None]) -> str | None:
        """A text line by line, sentence by sentence, or clause by clause; None where `say` has not all."""
        for cut in _CUTS:
            parts = cut.split(text)
            said = [say(part) for part in parts[::2]] if len(parts) > 1 else []
            if said and None not in said:
                return _joined(said, parts[1::2])
        return None

    def _filled(self, text: str, forms: list[str]) -> str | None:
        """The message of which a text is filled in; of several, the one that says most itself."""
        words = sorted({*_LETTERS.findall(" ".join(forms)), ""})
        entries = [entry for word in words for entry in self._entries.get(word, ())]
        for _, pattern, translation in sorted(entries, key=lambda entry: -entry[0]):
            for form in forms:
                if match := _compiled(pattern).fullmatch(form):
                    values = list(map(self._value, match.groups()))
                    said = SLOT.sub(lambda slot, of=values: of[int(slot[1])], translation)
                    return _alike(said, text, form)
        return None

    def _value(self, value: str) -> str:
        """What is filled in: several words may be a message, or a list of some."""
        if " " not in value:
            return value
        if value in self._whole:
            return self._whole[value]
        parts = _LIST.split(value)
        said = [self.say(part) if " " in part else part for part in parts[::2]]
        if len(said) == 1 or any(map(_is_typed, said, parts[::2])):
            return self.say(value)
        between = [re.sub(r"\w+", lambda word: self.say(word[0]), part) for part in parts[1::2]]
        return _joined(said, between)


def _forms(text: str) -> list[str]:
    """A text of several words as it is, and without a capital, a full stop, or both that it was given."""
    lower = text[:1].lower() + text[1:]
    forms = [text, text.removesuffix("."), lower, lower.removesuffix(".")]
    return list(dict.fromkeys(forms)) if " " in text else [text]


def _alike(said: str, text: str, form: str) -> str:
    """What is said for a form of a text, with the capital and the full stop of the text."""
    first = said[:1] if text[:1] == form[:1] else said[:1].upper()
    return f"{first}{said[1:]}{'.' * (len(text) > len(form))}"


_compiled = cache(lambda pattern: re.compile(pattern, re.DOTALL))


def _is_typed(said: str, part: str) -> bool:
    """Whether a part of a list may be of a typed text: it is no message, nor marked as quoted."""
    return said == part and not part.startswith(("“", "*", "'"))


def _joined(parts: list[Any], between: list[str]) -> str:
    return "".join(itertools.chain(*zip(parts, [*between, ""], strict=True)))


def pattern_of(english: str) -> str:
    """The regular expression of a message with slots, for Python and JavaScript.

    Where it says too little itself not to be found in what people type, it is filled with numbers alone.
    """
    itself = SLOT.sub(" ", english)
    words = _LETTERS.findall(itself)
    says_enough = (len(words) > 1 and len("".join(words)) > 7) or re.search("[:·→(“|,$*]", itself)
    slots = list(SLOT.finditer(english))
    said = [*map(re.escape, SLOT.sub("\0", english).split("\0"))]
    parts = [said[0]]
    for slot, after in zip(slots, said[1:], strict=True):
        # Up to the first place where the message goes on: a search for another would take any time.
        text = "(.*)" if slot is slots[-1] else f"((?:(?!{after}).)*)" if after else "(.*?)"
        parts += [text if says_enough and not slot[2] else f"({_NUMBER})", after]
    return "".join(parts)


@cache
def catalogue(language: str) -> Catalogue:
    """The catalogue of a language; that of English, or of one without a file, is empty."""
    file = FOLDER / f"{language}.po"
    if not file.exists():
        return Catalogue(language, {})
    with file.open("rb") as lines:
        entries = [entry for entry in read_po(lines) if entry.id and entry.string and not entry.fuzzy]
    return Catalogue(language, {str(entry.id): str(entry.string) for entry in entries})


def say(text: str) -> str:
    """A text in the visitor's language; one without Markdown stays one, see `phrases.plain`."""
    bare, spoken = re.sub(r"\\(.)", r"\1", text), catalogue(language()).say
    return phrases.plain(spoken(bare)) if bare != text and phrases.plain(bare) == text else spoken(text)


def say_html(markup: str) -> str:
    """The same for what stands between the tags of HTML."""
    if "<style" in markup:
        return markup
    pieces = re.split(r"(<[^<>]*>)", markup)
    before = ["", *pieces[1::2]]  # what has a language of its own, such as its name, stays
    spoken = [
        piece if " lang=" in tag else html.escape(say(html.unescape(piece)), quote=False)
        for tag, piece in zip(before, pieces[::2], strict=True)
    ]
    return _joined(spoken, pieces[1::2])


def language() -> str:
    """That of the visitor whose run this is: of the link with which he came, else of his browser."""
    return str(st.session_state.get("language", "en"))


def is_chosen() -> bool:
    """Whether a link or the switch named the language, so that the links of his pages name it, too."""
    return "language_chosen" in st.session_state


def choose() -> None:
    """To be called where a page begins: takes the link's language, at first the browser's."""
    session, asked = st.session_state, st.query_params.get("lang")
    if asked in NAMES:
        session.language = session.language_chosen = asked
    elif "language" not in session:
        session.language = of_browser(st.context.locale)


def of_browser(wanted: str | None) -> str:
    """The language for a browser. wanted: its locale, or all that it accepts, the dearest first."""
    first = (wanted or "")[:2].lower()
    return first if first in NAMES else "en"


def switch(current: str = "") -> str:
    """A menu with a link for each language, as HTML; browser/page.js keeps the rest of the page's address.

    current: its code, "" where only the browser knows it and static/host.js fills it in.
    """
    links = (
        f'<a href="?lang={code}" target="_self" lang="{code}" hreflang="{code}"'
        f"{' aria-current=true' if code == current else ''}>{name}</a>"
        for code, name in NAMES.items()
    )
    summary = NAMES.get(current, "Language")
    nav = f"<nav aria-label=Language>{''.join(links)}</nav>"
    return f'<details class="languages"><summary>{summary}</summary>{nav}</details>'


def given() -> Any:
    """What a file that this visitor keeps hands to words.js: his catalogue; None for English."""
    return None if language() == "en" else catalogue(language()).data


@cache
def script(language: str) -> str:
    """What hands a language's catalogue to words.js."""
    data = json.dumps(catalogue(language).data, ensure_ascii=False, separators=(",", ":"))
    return f"globalThis.attentionLabWords={data};"


@cache
def address(language: str) -> str:
    """Where browsers fetch it: its name says its content. English has no such place."""
    if language == "en":
        return ""
    return f"./words/{language}.{sha256(script(language).encode()).hexdigest()[:16]}.js"


READ = {
    *("label", "help", "body", "placeholder", "caption", "title", "text"),
    *("page_name", "section_header", "sections"),
}
"""The fields of Streamlit's messages that people read. What an option is called a browser says back: that is
looked up where its widget is drawn.
"""
_PASSED = {"BidiComponent", "Code", "PlotlyChart", "IFrame"}


def translate(message: Any) -> None:
    """Puts what people read in one of Streamlit's messages into the visitor's language."""
    if language() != "en":
        _translate(message)


def _translate(message: Any) -> None:
    kind = message.DESCRIPTOR.name
    for field, value in message.ListFields() if kind not in _PASSED else ():
        if field.type == field.TYPE_MESSAGE and not hasattr(value, "items"):
            for each in value if field.is_repeated else [value]:
                _translate(each)
        elif field.type == field.TYPE_STRING and field.name in READ:
            spoken = say_html if kind == "Html" else say
            if field.is_repeated:
                value[:] = map(spoken, value)
            else:
                setattr(message, field.name, spoken(value))
