"""The documents of a talk, as the app and the site hand them out: the show, its speaker's window in the same
document, and the pictures in that window; and those of halls and classes, which need the app. Programs lie
beside their folders.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..program import MARKDOWN, PLOTLY_ADDRESS, assembled_script, module_name, plotly_script, program
from ..static import documents

HERE = Path(__file__).parent
KINDS = ("board", "stage", "map")
"""What can be shown again in another window."""
ROOT = "../"
POLICY = documents.POLICY.format(scripts="'self'", styles="'self'", asked="'self'") + "; frame-src 'self'"

STYLE = "".join(file.read_text("utf-8") for file in (HERE / "talk.css", HERE.parent / "sheets" / "class.css"))

Add = Callable[[str, str], str]
"""Keeps a script, by its name; returns its address from the root."""


def pages(
    add: Add, names: Sequence[str], *, in_folders: bool = False, plotly_address: str = PLOTLY_ADDRESS
) -> dict[str, str]:
    """The HTML of each document by its address from the root.

    names: of the pages that a stop may show, Explore's is "". in_folders: whether each page lies in a folder
    of its name. plotly_address: from the root, too.
    """
    programs = {kind: ROOT + add(f"mirror_{kind}.js", mirroring(kind, plotly_address)) for kind in KINDS}
    show = add("talk.js", _started(HERE / "pages.js", "startTalk"))
    mirror = add("copies.js", _started(HERE / "pages.js", "startMirror", ahead=""))
    around = {"pages": list(names), "inFolders": in_folders}
    return {
        "talk/": _page("A talk", show, around),
        "talk/mirror.html": _page("Picture", mirror, {"programs": programs}),
        "talk/file.html": file_of_a_talk(names),
    }


def live_pages(add: Add, names: Sequence[str]) -> dict[str, str]:
    """The HTML of the documents of halls and classes by their addresses; they need `pages`.

    names: of the pages that a task may open.
    """
    hall = add("hall.js", _started(HERE / "hall_pages.js", "start"))
    sheet = add("class.js", _started(HERE.parent / "sheets" / "class_pages.js", "start"))
    around, deeper = {"pages": list(names)}, f"../{ROOT}"
    return {
        "hall/{code}": _page("A talk", hall, {}, page="follow"),
        "hall/{code}/clicker": _page("Clicker", hall, {}, page="clicker", root=deeper),
        "class/": _page("Give to a class", sheet, around, page="give"),
        "class/{code}": _page("Work sheet", sheet, around, page="work"),
        "class/{code}/teacher": _page("A class", sheet, around, page="teacher", root=deeper),
    }


def mirroring(kind: str, plotly_address: str = PLOTLY_ADDRESS) -> str:
    """A module with `mirrored` (copied_view.js) for one kind of view."""
    file = HERE / "copied_view.js"
    made = program(kind, file, plotly_address=ROOT + plotly_address)
    return (
        f"{made.script}\n"
        f"export const mirrored = (...given) => {module_name(file)}.mirrored({made.render}, ...given);\n"
    )


def file_of_a_talk(names: Sequence[str]) -> str:
    """A talk as one HTML file that asks for nothing, with names in the places of what recorded.js puts in."""
    codes = {kind: documents.script(kind, "host") for kind in KINDS}
    view = {"message": "MESSAGE", "state": "STATE", "plotly": "PLOTLY", "words": "WORDS"}
    templates = {
        kind: documents.as_file("Picture", documents.PLACE_OF_VIEW, view, code)
        for kind, code in codes.items()
    }
    plotly = documents.inside(plotly_script().encode())
    places = {"text": "TALK", "pictures": "PICTURES", "words": "WORDS"}
    file = {**places, "templates": templates, "plotly": plotly}
    code = _started(HERE / "pages.js", "startTalk")
    return documents.as_file(
        "A talk", "", {"pages": list(names), "file": file}, code, own_style=STYLE, frames=[*codes.values()]
    )


def _started(file: Path, function: str, ahead: str = f"{MARKDOWN}\n") -> str:
    """A script that calls a function of a module."""
    return f"{ahead}{assembled_script([file])}\n{module_name(file)}.{function}();\n"


def _page(
    title: str, script: str, content: Mapping[str, Any], *, page: str = "talk", root: str = ROOT
) -> str:
    return documents.document(
        title, "", content, policy=POLICY, root=root, page=page,
        styles=f"<style>{documents.style()}{STYLE}</style>",
        scripts=f'<script src="{root}{script}"></script>',
    )  # fmt: skip
