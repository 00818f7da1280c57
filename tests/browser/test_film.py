"""The film that an offline page makes of its slider, played back in the browser."""

import base64
from pathlib import Path

import numpy as np
from playwright.sync_api import Browser, expect

from attention_lab.viz_core import to_html
from attention_lab.viz_core.boards import Board, Matrix, Scrub, board_figure

PLAYED = """
async (url) => {
  const video = Object.assign(document.createElement("video"), { src: url, muted: true });
  await new Promise((resolve, reject) => { video.onloadeddata = resolve; video.onerror = reject; });
  const canvas = Object.assign(document.createElement("canvas"), { width: 40, height: 40 });
  const context = canvas.getContext("2d");
  const seen = new Set();
  video.play();
  while (!video.ended) {
    context.drawImage(video, 0, 0, 40, 40);
    seen.add(Math.round([...context.getImageData(0, 0, 40, 40).data].reduce((a, b) => a + b) / 2000));
    await new Promise((resolve) => setTimeout(resolve, 40));
  }
  return { size: [video.videoWidth, video.videoHeight], pictures: seen.size };
}
"""


def test_the_offline_page_makes_a_film_of_its_frames(browser: Browser, tmp_path: Path) -> None:
    values = np.stack([np.full((4, 4), share) for share in (0.0, 0.3, 0.6, 1.0)])
    scrub = Scrub(field="t", label="t", values=np.arange(4.0), speed=4)
    board = Board(rows=[[Matrix(values=values, scale="weights")]], notice="", scrub=scrub)
    figure = board_figure(board, frames=True, title="Softmax")
    (tmp_path / "figure.html").write_text(to_html(figure))
    context = browser.new_context(offline=True, accept_downloads=True)
    page = context.new_page()
    page.goto((tmp_path / "figure.html").as_uri())
    button = page.get_by_role("button", name="Film, WebM")
    with page.expect_download(timeout=60_000) as waiting:
        button.click()
    assert waiting.value.suggested_filename == "Softmax.webm"
    film = Path(waiting.value.path()).read_bytes()
    assert film[:4] == b"\x1a\x45\xdf\xa3"
    expect(button).to_be_enabled()
    played = page.evaluate(PLAYED, "data:video/webm;base64," + base64.b64encode(film).decode())
    assert played["size"] == [int(figure.layout.width), int(figure.layout.height)]
    assert played["pictures"] >= 4
    context.close()
