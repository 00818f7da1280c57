"""All that an author needs of a figure in one zip: the figure for a venue, its numbers, its caption, the
papers that it stands on, and the Python that gives the numbers and draws it again.

Matplotlib is imported when a figure is drawn, and not before.
"""

import io
import json
import re
import tomllib
import unicodedata
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed
from pathlib import Path

import plotly.graph_objects as go
from plotly.utils import PlotlyJSONEncoder

from ..labels import decimal
from .venues import VENUES

_ENTRY = re.compile(r"@\w+\{(\w+),.*?^\}", re.M | re.S)
_CITED = re.compile(
    r"([A-Z][\w-]+)((?:, [A-Z][\w-]+)*(?: et al\.?| (?:&|and) [A-Z][\w-]+)?),? \(?((?:19|20)\d\d)\b"
)


@dataclass(frozen=True)
class Files:
    """A figure as PDF, SVG, PNG, and PGF if LaTeX can hold it, by their endings.

    millimetres: its width and height. letters: the size of the smallest ones in points. lacking: the signs
    that no font here has.
    """

    contents: dict[str, bytes]
    millimetres: tuple[float, float]
    letters: float
    lacking: str = ""


def draw(figure: go.Figure, venue: str = "nature-wide") -> Files:
    """The figure for a venue.

    Raises ValueError for a venue that is not known, and for what cannot be printed there: with too many
    cells, too high for a page, or with letters too small to read.
    """
    if venue not in VENUES:
        raise ValueError(f'venue="{venue}" is unknown; choose one of "{", ".join(VENUES)}"')
    from .files import written

    return Files(*written(figure, VENUES[venue]))


@cache
def references() -> dict[tuple[str, int, str], str]:
    """The BibTeX entries of the project by first author, how many there are (3: or more) and year."""
    entries: dict[tuple[str, int, str], str] = {}
    for entry in _ENTRY.finditer((Path(__file__).parent / "references.bib").read_text(encoding="utf-8")):
        of = dict(re.findall(r"^  (\w+) = \{(.*)\},?$", entry[0], re.M))
        names = of["author"].split(" and ")
        key = (_plain(names[0].split(",")[0].removeprefix("van ")), min(3, len(names)), of["year"])
        entries[key] = "\n\n".join(filter(None, [entries.get(key), entry[0]]))
    return entries


def cited(text: str) -> tuple[list[str], list[str]]:
    """The entries of the papers that a text names, such as "Vaswani et al. 2017", and names without one."""
    found: dict[str, None] = {}
    lacking = []
    for name, others, year in _CITED.findall(re.sub(r"\\?\s+#?\s*", " ", text)):
        count = 3 if "et al" in others else 1 + others.count(",") + bool(re.search("&| and ", others))
        entry = references().get((_plain(name), min(3, count), year))
        if entry:
            found[entry] = None
        else:
            lacking.append(f"{name}{others} {year}")
    return list(found), lacking


def _plain(name: str) -> str:
    """A name without what BibTeX, or another language, adds to letters."""
    letters = unicodedata.normalize("NFKD", re.sub(r"\\.|[{}'-]", "", name))
    return "".join(each for each in letters if each.isascii()).lower()


@dataclass(frozen=True, kw_only=True)
class Bundle:
    """What of a figure goes into its zip.

    figure: as it is for a column of so many pixels. code: the Python that gives its numbers. said: what its
    panels show, and what is to be noticed. facts: what it is of: model, text, seed. sources: texts that,
    beside the code, name the papers it stands on. numbers: makes files of numbers, by their names.
    """

    title: str
    figure: Callable[[int], go.Figure]
    code: str
    said: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
    sources: Sequence[str] = ()
    numbers: Mapping[str, Callable[[], str | bytes]] = field(default_factory=dict)

    def refusal(self, venue: str) -> str:
        """Why a venue cannot print the figure, and what to do instead; "" where it can."""
        from .files import check

        wide = venue if venue.endswith("-wide") else f"{venue}-wide"
        refused = {}
        for name in dict.fromkeys((venue, wide)) if wide in VENUES else [venue]:
            try:
                check(self.figure(VENUES[name].pixels), VENUES[name])
            except ValueError as error:
                refused[name] = str(error)
            if venue not in refused:
                return ""
        other = f"choose {VENUES[wide].title}" if len(refused) == 1 and wide != venue else "leave out panels"
        return f"{VENUES[venue].title}: {refused[venue]} Instead, {other}."

    def zipped(self, venue: str) -> bytes:
        """The zip for a venue. Raises ValueError where `draw` does."""
        from .files import latex

        figure = self.figure(VENUES[venue].pixels)
        parts = {"data": [each.to_plotly_json() for each in figure.data], "layout": figure.layout}
        description = json.dumps(parts, cls=PlotlyJSONEncoder)
        papers, _ = cited("\n".join((*self.sources, self.code, "Vaswani et al. 2017")))
        contents: dict[str, str | bytes] = {
            "figure.json": description,
            "figure.py": _DRAWING.format(
                title=self.title.replace('"', "”"), venue=venue, package=__package__
            ),
            "compute.py": self.code + "\n",
            "references.bib": "\n\n".join(papers) + "\n",
            **{name: make() for name, make in self.numbers.items()},
        }
        files, caption = draw(figure, venue), self._caption(description)
        contents |= {f"figure.{ending}": content for ending, content in files.contents.items()}
        contents["caption.txt"] = f"{caption}\n\n{_in_print(files, venue)}\n"
        contents["caption.tex"] = f"\\caption{{{latex(caption)}}}\n"
        file = io.BytesIO()
        with zipfile.ZipFile(file, "w") as archive:
            for name, content in contents.items():
                archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        return file.getvalue()

    def _caption(self, description: str) -> str:
        """The title, what is to be noticed, what it is of and what made it."""
        facts = "; ".join(f"{name}: {value}" for name, value in self.facts.items() if value not in ("", None))
        made = f"Made with {version()}, hash {sha256(description.encode()).hexdigest()[:12]}"
        parts = (self.title, self.said.replace("**", ""), facts, made)
        return " ".join(part.rstrip(".") + "." for part in parts if part)


def version() -> str:
    """The lab with its version, as it is installed or as its folder declares it."""
    try:
        return f"Attention Lab {installed('attention-lab')}"
    except PackageNotFoundError:
        declared = (Path(__file__).resolve().parents[2] / "pyproject.toml").read_text(encoding="utf-8")
        return f"Attention Lab {tomllib.loads(declared)['project']['version']}"


def _in_print(files: Files, venue: str) -> str:
    """What the files are, and what they lack."""
    width, height = (decimal(each, 0) for each in files.millimetres)
    lines = [
        f"For {VENUES[venue].title}: {width} x {height} mm, letters of {decimal(files.letters, 1)} points or "
        "more. Fonts are embedded; nothing is an image."
    ]
    if files.lacking:
        lines.append(f"No font here has {' '.join(files.lacking)}: install Arial on the server.")
    if "pgf" not in files.contents:
        lines.append("It has too many cells for LaTeX: there is no figure.pgf.")
    return "\n".join(lines)


_DRAWING = '''"""{title}

Draws figure.json, the description beside this file, again; compute.py computes what it shows. Other widths
are other names of VENUES; figure.json may be changed as any figure of Plotly's.
"""

from pathlib import Path

import plotly.io

from {package} import draw

here = Path(__file__).parent
figure = plotly.io.from_json((here / "figure.json").read_text(encoding="utf-8"))
for ending, content in draw(figure, "{venue}").contents.items():
    (here / f"figure.{{ending}}").write_bytes(content)
'''
