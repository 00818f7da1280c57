"""The show of a talk as this server hands it out: documents of their own, beside Streamlit's."""

from functools import partial

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from attention_lab.pages.shared.browser.requests import adding_to
from attention_lab.pages.shared.lab_stops import NAMES as LAB
from attention_lab.viz_core.viewer.talk import documents

NAMES = ("", "start", "documents", "beside", "findings", *LAB, "runs", "sweeps")
"""The pages that a stop may show, by their addresses; Explore's is empty."""


def routes() -> list[BaseRoute]:
    """The documents, and the programs that they ask for."""
    made: list[BaseRoute] = []

    def send(request: Request, *, document: str) -> Response:
        return HTMLResponse(document, headers={"Cache-Control": "no-cache"})

    pages = documents.pages(adding_to(made), NAMES)
    return [*(Route(f"/{address}", partial(send, document=page)) for address, page in pages.items()), *made]
