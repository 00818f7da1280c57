"""JavaScript modules in several files, put together into one that Streamlit can send.

A module may say `import { a, b } from "./other.js";` and put `export` before a function, a class or a const.
Each keeps its own names: it becomes a function that returns what it exports.
"""

import re
from collections.abc import Iterable
from pathlib import Path

_IMPORT = re.compile(r'^import \{([^}]*)\} from "([^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?function|class|const) (\w+)", re.MULTILINE)


def assembled(files: Iterable[Path]) -> str:
    """One script of these modules and all that they import, each in a const of its own, imported ones first.

    Raises ValueError where modules import each other in a circle, or in a way that is not understood.
    """
    done: dict[Path, str] = {}
    for file in files:
        _add(file.resolve(), done, ())
    return "\n".join(done.values())


def name_of(file: Path) -> str:
    """The const that holds what a module exports. The browser refuses code in which two have one name."""
    return "_".join(["module", file.parent.name, file.stem])


def _add(file: Path, done: dict[Path, str], above: tuple[Path, ...]) -> None:
    if file in above:
        circle = " -> ".join(path.name for path in (*above[above.index(file) :], file))
        raise ValueError(f"modules import each other in a circle: {circle}; move what both need to a third")
    if file in done:
        return
    code = file.read_text()
    for _, other in _IMPORT.findall(code):
        _add((file.parent / other).resolve(), done, (*above, file))
    exported = ", ".join(name for _, name in _EXPORT.findall(code))
    body = _EXPORT.sub(r"\1 \2", _IMPORT.sub(lambda found: _taken(file, found), code))
    left = re.search(r"^(import|export)\b.*", body, re.MULTILINE)
    if left:
        raise ValueError(f"{file.name}: {left[0]!r} is not understood; see the docstring of {__name__}")
    done[file] = f"const {name_of(file)} = (() => {{\n{body}return {{ {exported} }};\n}})();"


def _taken(file: Path, found: re.Match[str]) -> str:
    return f"const {{{found[1]}}} = {name_of((file.parent / found[2]).resolve())};\n"
