"""The show of a talk as this server hands it out: documents of their own, beside Streamlit's."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from attention_lab.pages.shared.browser.requests import adding_to, document_in_language
from attention_lab.pages.talks.talks import ADDRESSES, SHEETS, TALKS
from attention_lab.viz_core.viewer.talk import documents


def routes() -> list[BaseRoute]:
    """The documents, the talks and sheets that ship, and the programs that they ask for."""
    made: list[BaseRoute] = []

    def send(request: Request, *, content: str, kind: str = "text/markdown") -> Response:
        return Response(content, media_type=kind, headers={"Cache-Control": "no-cache"})

    pages = documents.pages(adding_to(made), [*ADDRESSES])
    texts = TALKS | SHEETS
    file = partial(send, content=pages.pop("talk/file.html"), kind="text/html")  # the show fills it in
    sent = {f"talk/{name}.md": partial(send, content=text) for name, text in texts.items()}
    sent |= {address: partial(document_in_language, html=page) for address, page in pages.items()}
    sent["talk/file.html"] = file
    return [*(Route(f"/{address}", answer) for address, answer in sent.items()), *made]
