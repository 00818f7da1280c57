"""The common part of the take-away dialogs: files to download, the figure with its camera, the code."""

import html
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal
from urllib.parse import urlsplit

import plotly.graph_objects as go

from attention_lab.pages.shared import st
from attention_lab.pages.shared.state import guard_choice
from attention_lab.viz_core.paper import VENUES, Bundle

IMAGES = ("png", "svg")
ARRAYS = "application/octet-stream"
NUMBERS = ("text/csv", "text/plain", ARRAYS)
"""The kinds of files that belong beside a figure for a paper."""


@dataclass(frozen=True)
class Download:
    """A file, made when its button is pressed."""

    label: str
    make: Callable[[], str | bytes]
    file_name: str
    mime: str


@dataclass(frozen=True)
class Web:
    """What a page of one's own may show. address: the browser's, which says what is shown. whole: makes one
    file of the page with all its parts.
    """

    address: str
    whole: Callable[[], str] | None = None

    def frame(self, title: str) -> str:
        """The HTML that shows it in a frame."""
        address = html.escape(f"{self.address}{'&' if '?' in self.address else '?'}embed=1")
        name = html.escape(title)
        return f'<iframe src="{address}" title="{name}" width="100%" height="640" style="border:0"></iframe>'


def show(
    figure: go.Figure,
    downloads: Sequence[Download],
    *,
    title: str,
    file_name: str,
    code: str,
    note: str | None = None,
    paper: Callable[[], Bundle] | None = None,
    web: Web | None = None,
) -> None:
    """Draws the inside of a dialog. file_name: of images, without ending. note: why a file is not offered.
    paper: the figure for a paper, to whose zip the files of numbers are added; it may draw widgets.
    web: what a page of one's own may show of it.
    """
    with st.container(horizontal=True, key="takeaway_files"):
        for file in downloads:
            st.download_button(file.label, file.make, file.file_name, file.mime, on_click="ignore")
        if paper:
            numbers = {file.file_name: file.make for file in downloads if file.mime in NUMBERS}
            with st.popover("For a paper, ZIP", key="takeaway.paper", on_change="rerun") as popover:
                bundle = replace(paper(), code=code, numbers=numbers)
                _for_a_paper(bundle, file_name, asked=bool(popover.open))
        if web:
            with st.popover("For a web page"):
                _for_a_web_page(web, title, file_name)
    if note:
        st.caption(note)
    with st.container(horizontal=True, vertical_alignment="center", key="takeaway_image"):
        st.markdown("The camera on the figure saves", width="content")
        image = st.segmented_control(
            "Image", IMAGES, default="png", required=True, format_func=str.upper,
            label_visibility="collapsed", key="takeaway.image",
        )  # fmt: skip
        guard_choice("takeaway.image", "Image", IMAGES, "png")
    width: Literal["content", "stretch"] = "content" if figure.layout.width else "stretch"
    config = {
        "displayModeBar": True,
        "displaylogo": False,
        "modeBarButtons": [["toImage", "zoom2d", "pan2d", "resetScale2d"]],
        "toImageButtonOptions": {"format": image, "filename": file_name, "scale": 1 + (image == "png")},
    }
    st.plotly_chart(figure, theme=None, width=width, config=config, alt=title, key="takeaway_figure")
    st.code(code, language="python", wrap_lines=True)


def _for_a_web_page(web: Web, title: str, file_name: str) -> None:
    """One file with all of the page, and the line that shows this figure, live, in another page."""
    if web.whole:
        name = f"{file_name.partition('-')[0]}-page.html"
        st.download_button("This page, one HTML file", web.whole, name, "text/html", on_click="ignore")
        st.caption("All parts of this page, with sliders and questions.")
    st.code(web.frame(title), language="html", wrap_lines=True)
    from attention_lab.pages.shared.browser import requests

    if urlsplit(web.address).hostname in requests.OWN_NAMES:
        st.warning(
            "This address is your own computer's. Take the file, or put the site of `make site` on the web."
        )
    sites = requests.framing_sites()
    named = f"Pages of {', '.join(sites)} may show it" if sites else "By default no other site may show it"
    st.caption(f"{named}: the server's keeper names sites in `{requests.FRAMES}`.")


def _for_a_paper(bundle: Bundle, file_name: str, *, asked: bool) -> None:
    """A zip with the figure for a venue, caption, numbers, papers and code, made when it is wanted. asked:
    whether somebody looks: only then is it drawn, to see whether the venue can print it.
    """
    key, titles = "takeaway.venue", {name: venue.title for name, venue in VENUES.items()}
    venue = st.selectbox("Printed in", titles, format_func=titles.__getitem__, key=key)
    guard_choice(key, "Printed in", titles, next(iter(titles)))
    refusal = bundle.refusal(venue) if asked else ""
    if refusal:
        st.warning(refusal)
        return
    make, name = partial(bundle.zipped, venue), f"{file_name}-{venue}.zip"
    st.download_button("Make it", make, name, "application/zip", on_click="ignore", type="primary")
    st.caption("PDF, SVG, PGF and PNG with caption, numbers, BibTeX and Python")
