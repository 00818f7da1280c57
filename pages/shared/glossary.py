"""What terms and symbols mean, in one sentence each, and which of them a page has."""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from html import escape
from pathlib import Path
from typing import Any

SENTENCES: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))


def _forms(term: str) -> Iterator[str]:
    yield from (term, f"{term}s")
    if term.endswith("y"):
        yield f"{term[:-1]}ies"


_TERMS = {form.lower(): term for term in SENTENCES for form in _forms(term)}
_LONGEST_FIRST = sorted(_TERMS, key=len, reverse=True)
# Letters are those of JavaScript's \w, which looks for the same (viz_core/viewer/browser/glossary.js).
_ANY = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, _LONGEST_FIRST))})(?!\w)", re.IGNORECASE | re.ASCII)


def found_in(*things: Any) -> dict[str, str]:
    """The terms in texts and in all texts that data classes, lists and dicts hold: by each form that stands
    there, in lower case, the term as the glossary lists it.
    """
    text = "\n".join(texts_in(things))
    return {form: _TERMS[form] for form in {match.lower() for match in _ANY.findall(text)}}


def sentences(forms: Mapping[str, str]) -> dict[str, str]:
    """What each form that was found means."""
    return {form: SENTENCES[term] for form, term in forms.items()}


def drawer(forms: Mapping[str, str], title: str) -> str:
    """The terms that were found, with what they mean, as HTML: seen when the drawer `glossary` is open."""
    terms = sorted(set(forms.values()), key=str.lower)
    entries = (f"<dt>{escape(term)}</dt><dd>{escape(SENTENCES[term])}</dd>" for term in terms)
    return f'<div class="glossary-drawer"><h5>{title}</h5><dl>{"".join(entries)}</dl></div>'


def texts_in(thing: Any) -> Iterator[str]:
    """All texts that data classes, lists and dicts hold."""
    if isinstance(thing, str):
        yield thing
    elif isinstance(thing, Mapping):
        yield from texts_in([*thing.keys(), *thing.values()])
    elif isinstance(thing, list | tuple):
        for each in thing:
            yield from texts_in(each)
    elif is_dataclass(thing) and not isinstance(thing, type):
        for spec in fields(thing):
            yield from texts_in(getattr(thing, spec.name))
