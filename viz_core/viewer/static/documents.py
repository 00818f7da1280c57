"""Pages of static files that show the viewer: in a folder that any web server hands out, or each as one file.

A page has parts, and each part states: the messages that the app would send (viz_core/viewer/README.md), with
the words that stand beside them. A slider's frames are in a message; each experiment, step and answer is a
state of its own.
"""

import base64
import gzip
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from html import escape
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from ... import theme
from ..program import PLOTLY_ADDRESS, module_name, needs_whole, plotly_script, program

HERE = Path(__file__).parent
KATEX = HERE.parent / "vendored" / "katex.js"
POLICY = (
    "default-src 'none'; script-src {scripts}; style-src {styles} 'unsafe-inline'; connect-src {asked}; "
    "img-src 'self' data: blob:; font-src 'self'; worker-src 'self'; base-uri 'none'; form-action 'none'"
)
"""Plotly and the viewer write styles of their own; nothing else is done that a page could forbid itself."""
ROLES = ("query", "key", "value", "accent")
DRAWERS = ("formula", "code", "questions", "glossary")
MOST_TABS = 8

Add = Callable[[str, bytes], str]
"""Keeps a file of a page, by its name and content; returns the address at which the page finds it."""


@dataclass(frozen=True)
class State:
    """What a part shows for some of its inputs. link: the app's query parameters for it. problem: why there
    is nothing.
    """

    message: bytes = b""
    link: Mapping[str, str] = field(default_factory=dict)
    problem: str = ""


@dataclass(frozen=True)
class Choice:
    """A button: which state of its part it shows, and where the slider stands then."""

    label: str
    state: int
    scrub: Any = None


@dataclass(frozen=True)
class Question:
    """ask, options and the place of the right one; because: Markdown; shows: the state with the answer."""

    ask: str
    options: Sequence[str]
    right: int
    because: str
    shows: Choice | None = None


@dataclass(frozen=True)
class Part:
    """needs: what only the app can do here."""

    name: str
    label: str
    states: Sequence[State]
    tries: Sequence[Choice] = ()
    steps: Sequence[Choice] = ()
    questions: Sequence[Question] = ()
    needs: Sequence[str] = ()


def markdown(text: str) -> str:
    """A sentence in a document, whose bold words, code and formulas the page's script draws."""
    return f"<p class=markdown>{escape(text, quote=False)}</p>"


def latex(text: str, *, tag: str = "span") -> str:
    r"""A formula, which the page's script draws; \q, \k, \v and \new colour what is in them. tag: div for one
    in a line of its own."""
    return f"<{tag} class=latex>{escape(text)}</{tag}>"


def main_of(title: str, parts: Sequence[Part]) -> str:
    """The HTML inside a page of parts, which parts.js fills."""
    options = [(escape(part.name), escape(part.label)) for part in parts]
    if len(options) > MOST_TABS:
        listed = "".join(f'<option value="{name}">{label}</option>' for name, label in options)
        tabs = f"<select class=parts aria-label=Part>{listed}</select>"
    else:
        links = (
            f'<a href="?{escape(urlencode(part.states[0].link))}" data-part="{name}">{label}</a>'
            for part, (name, label) in zip(parts, options, strict=True)
        )
        tabs = f"<nav class=parts aria-label=Parts>{''.join(links)}</nav>" if options[1:] else ""
    drawers = "".join(f"<div class='drawer {name}'></div>" for name in DRAWERS)
    return (
        f"<div class=heading><h1>{escape(title)}</h1>{tabs}</div>{PLACE_OF_PROBLEM}"
        "<div class=columns><div><div class=tries></div><div class=place></div></div>"
        "<aside class=side><p class=see></p><div class=steps></div><p class=needs></p></aside></div>"
        f"{drawers}"
    )


PLACE_OF_PROBLEM = "<p class=problem role=status hidden></p>"
PLACE_OF_VIEW = f"{PLACE_OF_PROBLEM}<div class=place></div>"


def content_of(page: str, parts: Sequence[Part], add: Add) -> dict[str, Any]:
    """What parts.js has to know of a page."""

    def described(part: Part, state: State, at: int) -> dict[str, Any]:
        if state.problem:
            return {"problem": state.problem}
        return {"file": add(f"{page}/{part.name}-{at}.bin", state.message), "link": dict(state.link)}

    return {
        "parts": [
            asdict(part) | {"states": [described(part, state, at) for at, state in enumerate(part.states)]}
            for part in parts
        ]
    }


def script(kind: str, host: str, plotly_address: str = PLOTLY_ADDRESS) -> str:
    """The program of a page. host: "host" for one view, "parts" for several, "explore" for live models."""
    file = HERE / f"{host}.js"
    made = program(kind, file, plotly_address=plotly_address)
    return f"{made.script}\n{module_name(file)}.start({made.render}, {json.dumps(kind)});\n"


def document(
    title: str, main: str, content: Any, *, styles: str, scripts: str, policy: str,
    header: str = "", root: str = "./", page: str = "",
) -> str:  # fmt: skip
    """The HTML of a page. main: its inside. content: what its script reads. styles, scripts: its elements."""
    data = json.dumps(content, ensure_ascii=False).replace("<", "\\u003c")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)} · Attention Lab</title>{styles}</head>\n"
        f'<body data-root="{root}" data-page="{page}">\n{header}<main>{main}</main>\n'
        f'<script type="application/json" id="content">{data}</script>{scripts}</body></html>\n'
    )


def view_as_file(
    kind: str, title: str, message: bytes, *, state: Mapping[str, Any] | None = None, words: Any = None
) -> str:
    """One view as one HTML file that opens offline and asks for nothing. kind: of `KINDS` in program.py.
    message: its bytes. state: what is selected. words: the catalogue of its language; English needs none.
    """
    main = f"<div class=heading><h1>{escape(title)}</h1></div>{PLACE_OF_VIEW}"
    content = {"message": inside(message), "state": state, "words": words}
    return _as_file(title, main, content, script(kind, "host"), whole=needs_whole(message))


def page_as_file(title: str, page: str, parts: Sequence[Part], *, at: str = "", words: Any = None) -> str:
    """The same of a page with all its parts. at: the part at which it opens, by default the first."""
    content = content_of(page, parts, lambda _, file: inside(file)) | {"at": at, "words": words}
    whole = any(needs_whole(state.message) for part in parts for state in part.states if state.message)
    code = f"{KATEX.read_text('utf-8')}\n{script('board', 'parts')}"
    return _as_file(title, main_of(title, parts), content, code, page, whole=whole)


def inside(content: bytes) -> str:
    """A file as an address that holds all of it."""
    return "data:application/gzip;base64," + base64.b64encode(gzip.compress(content, mtime=0)).decode()


def _as_file(
    title: str, main: str, content: dict[str, Any], code: str, page: str = "", *, whole: bool
) -> str:
    content = content | {"plotly": inside(plotly_script(whole=whole).encode())}
    return as_file(title, main, content, code, page=page)


def as_file(
    title: str,
    main: str,
    content: Any,
    code: str,
    *,
    page: str = "",
    own_style: str = "",
    frames: Sequence[str] = (),
) -> str:
    """A document that asks for nothing. code: its script. frames: the scripts of documents that it opens in
    frames, which keep to its policy.
    """
    code, *others = (script.replace("</script", "<\\/script") for script in (code, *frames))
    digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (code, *others))
    scripts = " ".join(f"'sha256-{digest}'" for digest in digests)
    policy = POLICY.format(scripts=f"{scripts} blob:", styles="", asked="data:")
    return document(
        title, main, content, page=page,
        styles=f"<style>{style()}{own_style}</style>", scripts=f"<script>{code}</script>",
        policy=f"{policy}; frame-src blob:" if frames else policy,
    )  # fmt: skip


def style() -> str:
    """What pages look like: light or dark as the system, or as a link asks."""

    def declared(dark: bool) -> str:
        colours = theme.palette(dark)
        second = "#1b222c" if dark else "#f2f5f8"
        values = {
            "background": colours["background"], "secondary-background": second, "text": colours["ink"],
            "border": colours["grid"], "red": "#ff6b6b" if dark else "#b3261e", "accent": colours["accent"],
        }  # fmt: skip
        roles = "".join(f"--{role}: {colours[role]}; " for role in ROLES)
        return "".join(f"--lab-{name}-color: {value}; " for name, value in values.items()) + roles

    return (
        f":root {{ color-scheme: light; --lab-font: {theme.FONT}; {declared(False)}}}\n"
        "@media (prefers-color-scheme: dark) { :root:not([data-theme=light]) "
        f"{{ color-scheme: dark; {declared(True)}}} }}\n"
        f":root[data-theme=dark] {{ color-scheme: dark; {declared(True)}}}\n"
        f"{(HERE / 'static.css').read_text('utf-8')}"
    )
