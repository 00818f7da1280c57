"""The data of a run before its start: counted, measured, and the first examples as they will be read."""

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np
import streamlit as st

from attention_lab.models.data.data_summary import DataSummary, ExamplePreview, TokenPreview, sentences
from attention_lab.pages.shared import words
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.training.heads import picture_panel
from attention_lab.viz_core.boards import Bars, Board, Panel

_MOST_CLASSES = 20
_SIDES = {"encoder": "read", "decoder": "read and written"}


def draw(summary: DataSummary | None, link: Mapping[str, str]) -> None:
    """The panel beside the settings, which moves nothing when it comes or goes. link: the page's address."""
    if summary is None:
        return
    with st.container(border=True, key="train_data"):
        if summary.examples:
            st.caption("The first examples, as the model reads them.")
            st.html(examples(summary.examples))
        facts = (f"<div><dt>{escape(n)}</dt><dd>{escape(value)}</dd></div>" for n, value in facts_of(summary))
        st.html(f'<dl class="data_facts">{"".join(facts)}</dl>')
        for line in sentences(summary.source) if summary.source is not None else ():
            st.text(line)
        board = board_of(summary)
        if board is not None:
            on_page.show(board, key="train.data", part="data", link=link, keep=False)


def facts_of(summary: DataSummary) -> list[tuple[str, str]]:
    """What is known of the data as single numbers: a name and a text for each."""
    facts = [
        (split, "made at random" if size is None else f"{size:,} {summary.unit}")
        for split, size in summary.sizes.items()
        if size != 0 or split != "test"
    ]
    if summary.room is not None and summary.lengths:
        facts.append(("tokens, median and longest", f"{summary.median:,.0f} and {summary.longest:,}"))
        facts.append((f"cut at {summary.room:,} tokens", _percent(summary.cut)))
    if summary.padding is not None:
        facts.append((f"padding, in batches of {summary.batch_size}", _percent(summary.padding)))
    if summary.vocabulary is not None:
        facts.append(("vocabulary", f"{summary.vocabulary:,} tokens"))
    if summary.unknown is not None:
        facts.append(("unknown tokens, held out", _percent(summary.unknown)))
    return facts


def board_of(summary: DataSummary) -> Board | None:
    """How many examples each class has, how long they are, and the first pictures."""
    rows: list[list[Panel]] = []
    if summary.classes:
        names = list(summary.classes)[:_MOST_CLASSES]
        title = "examples of each class" + (
            f", the first {len(names)} of {len(summary.classes)}" if len(names) < len(summary.classes) else ""
        )
        if summary.sizes.get("training") is None:
            title += f" among {sum(summary.classes.values()):,} that were drawn"
        counts = np.array([summary.classes[name] for name in names])
        rows.append(
            [Bars(values=counts, labels=names, title=words.say(title), x_label=words.say("class"), digits=0)]
        )
    if summary.lengths and summary.room is not None:
        beyond = next((at for at, end in enumerate(summary.ends) if end > summary.room), None)
        title = f"lengths of {summary.measured:,} examples" + (
            f"; faint bars are cut at {summary.room:,} tokens" if beyond is not None else ""
        )
        bars = Bars(
            values=np.array(summary.lengths), labels=[f"{end:,}" for end in summary.ends],
            title=words.say(title), x_label=words.say("tokens, up to"), digits=0, faint_from=beyond,
        )  # fmt: skip
        rows = [[*rows[0], bars]] if rows else [[bars]]
    if summary.pictures is not None:
        labelled = zip(summary.labels, summary.pictures.astype(np.float32), strict=True)
        rows.append([picture_panel(label, picture) for label, picture in labelled])
    return Board(rows=rows, notice="") if rows else None


def examples(previews: Sequence[ExamplePreview]) -> str:
    """Examples as HTML: each token a cell, with its target under it. Everything of a file is escaped."""
    return f'<div class="read_examples">{"".join(map(_example, previews))}</div>'


def _example(preview: ExamplePreview) -> str:
    text = f"<p>{escape(preview.text)}</p>" if preview.text else ""
    sides = "".join(
        f'<div class="side" title="{_SIDES.get(side, side)}">{"".join(map(_cell, cells))}</div>'
        for side, cells in preview.sides.items()
    )
    more = f"<span>… and {preview.more:,} more tokens</span>" if preview.more else ""
    answer = f'<p>answer: <b class="target">{escape(preview.answer)}</b></p>' if preview.answer else ""
    return f"<section>{text}{sides}{more}{answer}</section>"


def _cell(cell: TokenPreview) -> str:
    kinds = " ".join(kind for kind in ("special", "unknown") if getattr(cell, kind))
    token = escape(cell.token).replace("\n", "↵").replace(" ", "·") or "∅"
    target = escape(cell.target).replace("\n", "↵").replace(" ", "·")
    under = f'<b class="target">{target}</b>' if target else ""
    return f'<span class="cell {kinds}">{token}{under}</span>'


def _percent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"
