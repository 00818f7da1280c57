"""Talks, halls and classes as this server hands them out: documents of their own, beside Streamlit's."""

from functools import partial

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from attention_lab.pages.shared.browser.requests import adding_to, document_in_language
from attention_lab.pages.talks.talks import ADDRESSES, SHEETS, TALKS
from attention_lab.viz_core.viewer.talk import documents


def routes() -> list[BaseRoute]:
    """The documents, the talks and sheets that ship, and the programs that they ask for."""
    made: list[BaseRoute] = []

    def send(address: str, content: str, kind: str) -> None:
        headers = {"Cache-Control": "no-cache"}
        made.append(Route(f"/{address}", lambda _: Response(content, media_type=kind, headers=headers)))

    add = adding_to(made)
    pages = documents.pages(add, [*ADDRESSES]) | documents.live_pages(add, [*ADDRESSES, "talks"])
    send("talk/file.html", pages.pop("talk/file.html"), "text/html")  # the show fills it in
    for address, page in pages.items():
        made.append(Route(f"/{address}", partial(document_in_language, html=page)))
    for code in TALKS:
        for name, text in (TALKS[code] | SHEETS[code]).items():
            send(f"talk/{code}/{name}.md", text, "text/markdown")
    return made
