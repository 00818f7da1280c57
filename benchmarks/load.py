"""What Explore costs: bytes to the browser, many visitors at once, memory of the server."""

import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from urllib.parse import urlsplit

import psutil
from playwright.sync_api import Page, Response

from benchmarks import servers
from benchmarks.probe import first_paint, open_page, press_to_paint
from benchmarks.setting import Setting, print_table, verdict
from benchmarks.visitors import measure
from tools.background_servers import Server, serving_the_app

VISITORS = 100
FIRST_VISITORS = 20
CHANGES = 10
AT_MOST_P95_MS = 150
AT_MOST_FIRST_VIEW_MB = 1
AT_MOST_OPENING_MB = 0.25
AT_MOST_GROWTH_MB = 100
SENTENCES = 200
FIRST_SENTENCES = 20
WORDS = ["the", "animal", "street", "was", "too", "tired", "wide", "because", "it", "did", "not", "cross"]


def first_view_bytes(setting: Setting) -> None:
    views: list[tuple[str, str, float | None]] = [("the opening page", "", AT_MOST_OPENING_MB)]
    for n_tokens in (64, 128, 512):
        query = servers.untrained(n_tokens, n_layers=6, n_heads=12, d_model=384, view="grid")
        limit = AT_MOST_FIRST_VIEW_MB if n_tokens == 512 else None
        views.append((f"6 layers × 12 heads, {n_tokens} tokens", query, limit))
    rows = []
    for name, query, at_most in views:
        page = open_page(setting.browser, first=servers.DRAWN)
        sizes = count_bytes(page)
        first_paint(page, f"{setting.app.url}/?{query}")
        page.wait_for_timeout(2000)
        megabytes = sum(sizes) / 1e6
        rows.append([name, f"{megabytes:.2f}" if at_most is None else verdict(megabytes, at_most)])
        page.context.close()
    print_table("Bytes to the browser for the first view", ["Explore", "MB"], rows)


PROGRAMS = ("/static/", "/plotly/")


def count_bytes(page: Page) -> list[int]:
    """A list that grows by the size, compressed where it is sent so, of all that the server sends to `page`
    but programs: Streamlit's static files, and Plotly, which is fetched ahead once the page idles.
    """
    sizes: list[int] = []

    def frame(payload: str | bytes) -> None:
        sizes.append(len(payload))

    def response(answer: Response) -> None:
        address = urlsplit(answer.url)
        if address.scheme == "http" and not address.path.startswith(PROGRAMS):
            sizes.append(answer.request.sizes()["responseBodySize"])

    page.on("websocket", lambda socket: socket.on("framereceived", frame))
    page.on("response", response)
    return sizes


def visitors(setting: Setting) -> None:
    """Many visitors at once on a server of their own, and its memory before and after them."""
    query = servers.untrained(32)
    with serving_the_app(setting.folder / "visitors.txt") as server:
        # In a thread, because Playwright's event loop runs in this one.
        with ThreadPoolExecutor(1) as thread:
            send = partial(measure, server.url, query=query, slider="Seed")
            thread.submit(send, users=FIRST_VISITORS, changes=1).result()
            before = megabytes_of(server)
            report = thread.submit(send, users=VISITORS, changes=CHANGES).result()
        time.sleep(5)
        growth = megabytes_of(server) - before
    p95 = "nothing measured" if not report.seconds else verdict(report.percentile_ms(95), AT_MOST_P95_MS)
    rows = [
        ["p95 of the answers, ms", p95],
        ["errors", verdict(len(report.errors), 0)],
        ["memory they leave behind, MB", verdict(growth, AT_MOST_GROWTH_MB)],
    ]
    print_table(f"{VISITORS} visitors, each changing a control every 2 s", ["", "measured"], rows)
    print(f"\n{report}")


def memory(setting: Setting) -> None:
    """What many different sentences, one after the other, leave behind in a server of their own."""
    rows = []
    for name, query, n_words in [
        ("translator, 12 words", "", 12),
        ("untrained 6 × 12, 128 words", "model=untrained&n_layers=6&n_heads=12&d_model=384&text=hello", 128),
    ]:
        with serving_the_app(setting.folder / "memory.txt") as server:
            page = open_page(setting.browser, first=servers.DRAWN)
            first_paint(page, f"{server.url}/?{query}")
            page.wait_for_timeout(3000)
            before = 0.0
            for number, sentence in enumerate(sentences(FIRST_SENTENCES + SENTENCES, n_words)):
                if number == FIRST_SENTENCES:
                    before = megabytes_of(server)
                type_sentence(page, sentence)
            after = megabytes_of(server)
            page.context.close()
        rows.append([name, f"{before:.0f}", f"{after:.0f}", verdict(after - before, AT_MOST_GROWTH_MB)])
    title = f"Memory of the server over {SENTENCES} different sentences"
    print_table(title, ["model", f"MB after the first {FIRST_SENTENCES}", "MB in the end", "MB more"], rows)


def sentences(count: int, n_words: int) -> Iterator[str]:
    generator = random.Random(0)
    for number in range(count):
        yield " ".join([f"s{number}", *generator.choices(WORDS, k=n_words - 1)])


def type_sentence(page: Page, sentence: str) -> None:
    """Replace the sentence by another and wait for its figure."""
    box = page.locator("textarea.text")
    box.fill(sentence)
    press_to_paint(page, lambda: box.press("Enter"), servers.DRAWN_FROM_NEW_DATA)


def megabytes_of(server: Server) -> float:
    """Resident memory of the server's process."""
    return float(psutil.Process(server.process.pid).memory_info().rss) / 1e6
