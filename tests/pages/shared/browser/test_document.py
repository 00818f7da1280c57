import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from pages.shared.browser import document, plotly_js


@pytest.mark.parametrize("path", ["/", "/attention", "/no-such-page"])
def test_a_page_is_streamlits_document_with_its_servers_address_before_any_other_script(path: str):
    answer = TestClient(Starlette(routes=document.routes())).get(path)
    assert answer.headers["cache-control"] == "no-cache"
    first, *others = answer.text.split("<script")[1:]
    assert first.startswith(">window.__streamlit = {BACKEND_BASE_URL: new URL('.', location).href}</script>")
    assert any('type="module"' in other and "./static/js/" in other for other in others)


@pytest.mark.parametrize("path", ["/favicon.png", "/manifest.json", "/_stcore/health", "/a/b"])
def test_everything_else_is_left_to_streamlit(path: str):
    assert TestClient(Starlette(routes=document.routes())).get(path).status_code == 404


@pytest.mark.parametrize("path", ["/", "/attention", "/train"])
def test_pages_but_explore_begin_to_load_plotly_with_their_document(path: str):
    answer = TestClient(Starlette(routes=document.routes())).get(path)
    assert (f'<script async src="{plotly_js.ADDRESS}"></script>' in answer.text) == (path != "/")
