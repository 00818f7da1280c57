"""The lab as a folder of static files, which any web server hands out: `make site`.

    python -m tools.site site

All addresses are relative, and nothing else is asked for. Pages are made by viz_core/viewer/static and by the
static.py of each kind of page; Explore's models run in the browser (viz_core/viewer/live).
"""

import argparse
import hashlib
import json
import re
import shutil
import sys
from collections.abc import Sequence
from dataclasses import fields
from html import escape
from pathlib import Path
from typing import Any

from attention_lab.models.fields import written
from attention_lab.models.zoo.onnx_parts import FORMATS, Format
from attention_lab.pages.beside import static as beside
from attention_lab.pages.beside.state import page as beside_page
from attention_lab.pages.explore.live import LACKING, add_folder, first_message, live_models, write_live
from attention_lab.pages.explore.state import View
from attention_lab.pages.findings import static as findings
from attention_lab.pages.findings.state import page as findings_page
from attention_lab.pages.lab import static as lab
from attention_lab.pages.lab.lesson import lab_page
from attention_lab.pages.shared import words
from attention_lab.pages.shared.lab_stops import NAMES
from attention_lab.pages.shared.menu import MENU, PAGES
from attention_lab.pages.start import component as start
from attention_lab.pages.start.walk import STATIONS
from attention_lab.pages.talks.talks import ABOUT, ADDRESSES, TALKS, message_of
from attention_lab.viz_core.viewer.program import plotly_script
from attention_lab.viz_core.viewer.static import documents as static
from attention_lab.viz_core.viewer.talk import documents as talk
from tools.javascript import ROOT, VENDORED, copy_runtime, install

ABOUT_THE_SITE = (
    "Type a sentence and see every attention head of a real transformer at work, in your own browser. "
    "Switch a head off, and see what the model writes without it."
)
CARD = ROOT / "docs" / "pictures" / "edit.png"
"""The picture of a shared link."""
NEEDS = ["your own models and runs", "training"]
ICONS = ROOT / "pages" / "shared"
HERE = {
    name: f"{name}/" * (name != "explore")
    for name in ("start", "explore", "beside", "findings", "talks", *NAMES)
}
"""The addresses of the pages that the site has, in the order of a clicker."""
TITLES = {address: PAGES[name] for name, address in HERE.items()}
WALK = [{name: getattr(each, name) for name in ("title", "link", "act", "take")} for each in STATIONS]
"""Of each station of the walk, what the bar over its page says."""
START = (
    f"<div class=heading><h1>Start here</h1></div>{static.PLACE_OF_PROBLEM}{static.markdown(start.ABOUT)}"
    f"{static.markdown(start.SHELF)}<div class=place></div>"
)
POLICY = static.POLICY.format(scripts="'self' 'wasm-unsafe-eval'", styles="'self'", asked="'self'")


class Site:
    """A folder that is written: its files are named by what is in them, so that a browser may keep them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.names: list[str] = []
        shutil.rmtree(folder, ignore_errors=True)
        for name in ("icon.svg", "logo.svg"):
            self.add(name, (ICONS / name).read_bytes(), named=False)
        for file in VENDORED.glob("*.LICENSE"):
            self.add(file.name, file.read_bytes(), named=False)
        self.style = self.add("site.css", static.style())
        files = {code: self.add(f"words/{code}.js", words.script(code)) for code in words.TRANSLATED}
        code = (static.HERE / "language.js").read_text("utf-8")
        self.language = self.add(
            "language.js", code.replace('{ LANGUAGE: "FILE" }', json.dumps(files | {"en": ""}))
        )
        """Has a page speak a visitor's language."""

    def add(self, name: str, content: str | bytes, *, named: bool = True) -> str:
        """Writes a file and returns its address. named: whether its content joins its name."""
        raw = content.encode() if isinstance(content, str) else content
        stem, dot, ending = name.rpartition(".")
        address = f"{stem}-{hashlib.sha256(raw).hexdigest()[:8]}{dot}{ending}" if named else name
        path = self.folder / address
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(raw)
        self.names.append(address)
        return address

    def add_page(
        self, at: str, title: str, main: str, content: Any, scripts: Sequence[str], card: str = ""
    ) -> None:
        """at: its address in the site. scripts: those that it runs, one after the other. card: elements of
        its head.
        """
        root = "../" * at.count("/") or "./"
        doors = ""
        for door, names in MENU:
            entries = [(HERE[name], escape(title)) for name, title in names.items() if name in HERE]
            links = "".join(
                f'<a href="{root + address}"{" aria-current=page" * (address == at)}>{title}</a>'
                for address, title in entries
            )
            if not links:
                continue
            doors += f"<details><summary>{door}</summary><div>{links}</div></details>" if door else links
        header = (
            f'<header><a class="logo" href="{root}">'
            f'<img src="{root}logo.svg" alt="Attention Lab" width="147" height="28"></a>'
            f"<nav aria-label=Pages>{doors}</nav>{words.switch()}</header>\n"
        )
        icon, style = f'rel="icon" href="{root}icon.svg"', f'rel="stylesheet" href="{root}{self.style}"'
        page = static.document(
            title, main, content | {"walk": WALK}, root=root, page=at.rstrip("/"), header=header,
            policy=POLICY,
            styles=f'{card}<link {icon}><link {style}><script src="{root}{self.language}"></script>',
            scripts="".join(f'<script src="{root}{script}"></script>' for script in scripts),
        )  # fmt: skip
        self.add(f"{at}index.html", page, named=False)


def build(
    folder: Path, models: Sequence[str] = (), pages: Sequence[str] = tuple(TITLES), url: str = "",
    folders: Sequence[Path] = (), weights: Format = "int8",
) -> Site:  # fmt: skip
    """Writes the site, in the place of one that was there. Raises FileExistsError for anything else there.

    models: those that Explore offers, by default all that a browser can run. pages: addresses of `TITLES`,
    beside Explore. url: where the site will be. folders: of models of transformers, which Explore offers
    after those, in these weights. Raises ValueError for one that a browser cannot run.
    """
    if folder.exists() and any(folder.iterdir()) and not (folder / "worker.js").exists():
        raise FileExistsError(f"{folder} holds other files; name a folder that is empty or not there")
    site = Site(folder.with_name(f"{folder.name}.part"))
    plotly = site.add("plotly.js", plotly_script())
    katex = site.add("katex.js", static.KATEX.read_bytes())
    board = site.add("board.js", static.script("board", "parts", f"../{plotly}"))
    program = site.add("start.js", static.script("start", "host"))
    shown = {"message": site.add("start.json", start.message(stations=True))}
    site.add_page("start/", TITLES["start/"], START, shown, [program])
    _add_explore(site, f"./{plotly}", models, url, folders, weights)
    if "talks/" in pages:
        _add_talks(site)
    makers = {"findings/": (findings.parts_of, findings_page), "beside/": (beside.parts_of, beside_page)}
    for address in pages:
        if address in ("", "start/", "talks/"):
            continue
        name = address.rstrip("/")
        if address in makers:
            parts_of, page_of = makers[address]
            parts, fields = parts_of(), page_of().params
        else:
            parts, fields = lab.parts_of(lab_page(name)), lab_page(name).state.params
        usual = {field: written(each.default) for field, each in fields.items() if field != "part"}
        content = static.content_of(name, parts, site.add) | {"usual": usual}
        site.add_page(
            address, TITLES[address], static.main_of(TITLES[address], parts), content, [katex, board]
        )
    names = [address.rstrip("/") for address in dict.fromkeys(("", "start/", *pages))]
    for address, page in talk.pages(site.add, names, in_folders=True, plotly_address=plotly).items():
        if address != "talk/file.html":  # the show fills it in
            page = page.replace("</head>", f'<script src="../{site.language}"></script></head>', 1)
        site.add(f"{address}index.html" if address.endswith("/") else address, page, named=False)
    version = hashlib.sha256(json.dumps(sorted(site.names)).encode()).hexdigest()[:12]
    worker = (static.HERE / "worker.js").read_text("utf-8")
    worker = worker.replace('"LARGE"', json.dumps("threads" if folders else ""))
    site.add("worker.js", worker.replace('"VERSION"', json.dumps(version)), named=False)
    shutil.rmtree(folder, ignore_errors=True)
    site.folder.rename(folder)
    return site


def _add_talks(site: Site) -> None:
    """The talks that ship, and the editor of an own one."""
    for code, texts in TALKS.items():
        for name, text in texts.items():
            site.add(f"talk/{code}/{name}.md", text, named=False)
    here = [name for name in ADDRESSES if (name or "explore") in HERE]
    message = message_of(here=here, serves=False)
    script = site.add("talks.js", static.script("talks", "host"))
    heading = f"<div class=heading><h1>Talks</h1></div>{static.PLACE_OF_PROBLEM}<p>{ABOUT}</p>"
    main = f"{heading}<div class=place></div>"
    site.add_page("talks/", "Talks", main, {"message": site.add("talks.json", message)}, [script])


def _add_explore(
    site: Site, plotly: str, models: Sequence[str], url: str, folders: Sequence[Path], weights: Format
) -> None:
    """Explore, with the models that run in a browser; the picture of the first one comes without it."""
    reasons = live_models()
    names = [*(models or [name for name, why in reasons.items() if not why])]
    stage = site.add("stage.js", static.script("stage", "explore", plotly))
    folder = site.folder / "models"
    folder.mkdir()
    copy_runtime(folder, tokenizers=bool(folders))
    large = [add_folder(path, folder, weights) for path in folders]
    names += large
    for name in names:
        write_live(name, folder, names)
    for file in sorted(folder.iterdir()):  # a model that changes makes another site
        site.names.append(f"{file.name} {hashlib.sha256(file.read_bytes()).hexdigest()}")
    needs = " ".join(escape(why) for why in [LACKING * bool(large), *reasons.values()] if why)
    main = (
        f"<h1 class=heard>Explore</h1>{static.PLACE_OF_PROBLEM}"
        "<p class=waits>The model is opened in this browser.</p><div class=place></div>"
        f"<p class=needs></p><p class=needs>{needs}</p>"
    )
    first = site.add("first.bin", first_message(names[0], names))
    views = [each.name for each in fields(View)]
    content = {"offers": names, "large": large, "needs": NEEDS, "first": first, "views": views}
    site.add("card.png", CARD.read_bytes(), named=False)
    site.add_page("", "Explore", main, content, [stage], card(url))


def card(url: str) -> str:
    """What other sites show of a shared link. url: where the site will be; without it, no picture."""
    told = {"og:title": "Attention Lab", "og:description": ABOUT_THE_SITE, "og:type": "website"}
    if url:
        told |= {"og:url": url, "og:image": f"{url}card.png", "twitter:card": "summary_large_image"}
    listed = {"description": ABOUT_THE_SITE}
    return "".join(
        f'<meta {key}="{escape(name)}" content="{escape(text)}">'
        for key, entries in (("name", listed), ("property", told))
        for name, text in entries.items()
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the files go: new, empty, or a site built before")
    parser.add_argument("--url", default="", help="where the site will be, for the picture of shared links")
    parser.add_argument(
        "--model", type=Path, action="append", default=[], metavar="FOLDER",
        help="a folder of a model of transformers, which runs in the browser, too; may be given again",
    )  # fmt: skip
    parser.add_argument("--weights", choices=FORMATS, default="int8", help="of these models")
    given = parser.parse_args()
    folder, url = given.folder, given.url
    if url and not re.fullmatch(r"https?://[^\s\"<>]+/", url):
        sys.exit(f"--url={url[:200]} is no address of a site; give one like https://lab.example.org/")
    install()
    try:
        build(folder, url=url, folders=given.model, weights=given.weights)
    except (FileExistsError, ValueError) as error:
        sys.exit(str(error))
    sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
    print(f"{folder}: {len(sizes)} files, {sum(sizes) / 1e6:.1f} MB. Look at it by")
    print(f"  python -m http.server --directory {folder}")


if __name__ == "__main__":
    main()
