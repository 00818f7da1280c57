"""The documents of a talk, as the app and the site hand them out: the show, its speaker's window in the same
document, and the pictures in that window.

They lie in one folder below the root: `talk/` and `talk/mirror.html`. Programs lie beside that.
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
    of its name, Explore in "explore". plotly_address: from the root, too.
    """
    programs = {kind: ROOT + add(f"mirror_{kind}.js", mirroring(kind, plotly_address)) for kind in KINDS}
    code = assembled_script([HERE / "pages.js"])
    host = module_name(HERE / "pages.js")
    show = add("talk.js", _show_script())
    mirror = add("mirror.js", f"{code}\n{host}.startMirror();\n")
    around = {"pages": list(names), "inFolders": in_folders}
    return {
        "talk/": _page("A talk", show, around),
        "talk/mirror.html": _page("Picture", mirror, {"programs": programs}),
        "talk/file.html": file_of_a_talk(names),
    }


def hall_pages(add: Add) -> dict[str, str]:
    """The HTML of the documents of a hall by their addresses below it; they need `pages`."""
    file = HERE / "hall_pages.js"
    code = f"{MARKDOWN}\n{assembled_script([file])}\n{module_name(file)}.start();\n"
    script = add("hall.js", code)
    return {
        "": _page("A talk", script, {}, page="follow"),
        "/clicker": _page("Clicker", script, {}, page="clicker", root=f"../{ROOT}"),
    }


def class_pages(add: Add, names: Sequence[str]) -> dict[str, str]:
    """The HTML of the documents of classes by their addresses below "class/"; they need `pages`.

    names: of the pages that a task may open.
    """
    file = HERE.parent / "sheets" / "class_pages.js"
    code = f"{MARKDOWN}\n{assembled_script([file])}\n{module_name(file)}.start();\n"
    script, around = add("class.js", code), {"pages": list(names)}
    return {
        "": _page("Give to a class", script, around, page="give"),
        "{code}": _page("Work sheet", script, around, page="work"),
        "{code}/teacher": _page("A class", script, around, page="teacher", root=f"../{ROOT}"),
    }


def mirroring(kind: str, plotly_address: str = PLOTLY_ADDRESS) -> str:
    """A module with `mirrored` (mirrored.js) for one kind of view."""
    file = HERE / "mirrored.js"
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
    names_of_places = {"text": "TALK", "pictures": "PICTURES", "words": "WORDS"}
    file = {**names_of_places, "templates": templates, "plotly": plotly}
    code = _show_script()
    return documents.as_file(
        "A talk", "", {"pages": list(names), "file": file}, code, own_style=STYLE, frames=[*codes.values()]
    )


def _show_script() -> str:
    file = HERE / "pages.js"
    return f"{MARKDOWN}\n{assembled_script([file])}\n{module_name(file)}.startTalk();\n"


def _page(
    title: str, script: str, content: Mapping[str, Any], *, page: str = "talk", root: str = ROOT
) -> str:
    return documents.document(
        title, "", content, policy=POLICY, root=root, page=page,
        styles=f"<style>{documents.style()}{STYLE}</style>",
        scripts=f'<script src="{root}{script}"></script>',
    )  # fmt: skip
