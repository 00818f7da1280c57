"""The scores of one run: held out and test, with n and intervals, and where its model errs."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import streamlit as st

from attention_lab.models.runs.folder import Status
from attention_lab.models.runs.report import read_report, write_report
from attention_lab.pages.shared import cache, phrases, server_load
from attention_lab.pages.shared.board import on_page
from attention_lab.pages.shared.browser.acts import Act
from attention_lab.pages.shared.state import attempt
from attention_lab.pages.shared.table import Row, message, table
from attention_lab.pages.shared.training import heads, runs
from attention_lab.pages.shared.training.runs import Run
from attention_lab.pages.shared.visitors import without_places
from attention_lab.viz_core.boards import Board, Colour, Curves, Line, Matrix, Panel

EXPLORE = "explore/page.py"
KEY = "runs.report"
PARTS = ("held out", "test")
MOST_ROWS, MOST_CELL = 40, 120
MOST_CLASSES = 40  # more are no picture that can be read
Report = Mapping[str, Any]


def draw(run: Run, status: Status) -> None:
    """The section; of a run without a report, a button that writes one, where there is something to score."""
    with st.container(border=True, key="runs_scores"):
        st.markdown("**Scores**")
        try:
            scores = read_report(run.folder)
            if scores:
                _draw_report(run, scores)
        except (ValueError, KeyError, TypeError, AttributeError, IndexError) as error:
            reason = without_places(str(error)) if isinstance(error, ValueError) else "it is damaged"
            st.text(f"The report cannot be shown: {reason}; score the run again")
            scores = {}
        _score_now(run, status, scores)


def _score_now(run: Run, status: Status, scores: Report) -> None:
    if not run.has_weights or status.live or not runs.may_change(run):
        if not scores:
            live = "Scores come when the run has finished."
            st.caption(live if status.live else "This run has no report.")
        return
    if scores and scores.get("step") == status.step:
        return
    label = "Score this step" if scores else "Score it now"
    tip = "Scores the last checkpoint"
    if st.button(label, help=tip, key="runs.score"):
        server_load.check_memory()
        with st.spinner("Scoring …"):
            attempt(lambda: cache.on_worker(lambda: write_report(run.folder)), without_places)
        st.rerun()


def _draw_report(run: Run, scores: Report) -> None:
    parts = {name: scores["parts"][name] for name in PARTS if name in scores["parts"]}
    if not parts:
        raise ValueError("it is damaged")
    st.caption(phrases.plain(about(scores, parts)))
    table.show(message("Scores", *score_rows(parts)), key=f"{KEY}.scores")
    panels = panels_of(parts)
    rows = [*([panels] if panels else []), *heads.pictures_panel(run)]
    if rows:
        content = Board(rows=rows, notice=notice_of(parts))
        part = f"scores.{run.id}"
        on_page.show(content, key=f"{KEY}.board", part=part, link={"runs": run.id}, keep=False)
    held_out = parts.get("held out", {})
    if "classes" in held_out:
        classes = class_rows(held_out["classes"]["rows"])
        table.show(message("Each class, held out", *classes), key=f"{KEY}.classes")
    if held_out.get("errors", {}).get("rows"):
        errors = error_rows(held_out["errors"]["rows"])
        table.show(message("Error of each class, held out", *errors), key=f"{KEY}.errors")
    _opened(run, held_out)


def _opened(run: Run, held_out: Report) -> None:
    """The tables whose rows open Explore with the text of an example."""
    entries, caption, content = examples_of(held_out)
    if not entries:
        return
    texts = [str(entry.get("text", "")) for entry in entries]

    def on_act(act: Act) -> None:
        at = str(act.get("id", ""))
        if act["type"] == "open" and at.isdigit() and int(at) < len(texts):
            st.session_state[f"{KEY}.opened"] = texts[int(at)]

    st.caption("Press a row to see its text on Explore.")
    table.show(message(caption, *content), key=f"{KEY}.examples", on_act=on_act)
    text = st.session_state.pop(f"{KEY}.opened", "")
    if text:
        st.switch_page(EXPLORE, query_params={"model": run.model_link, "text": text})


def about(scores: Report, parts: Mapping[str, Report]) -> str:
    """What was scored, on how many examples, and how the intervals were found."""
    counted = []
    for name, part in parts.items():
        of = f" of {part['of']:,}" if isinstance(part.get("of"), int) else ""
        counted.append(f"{phrases.capitalised(name)}: {part['n']:,}{of} {scores.get('unit', 'examples')}")
    entries = [entry for part in parts.values() for entry in part["scores"]]
    how = list(dict.fromkeys(str(entry["method"]) for entry in entries if entry.get("method")))
    signed = dict.fromkeys(f"{e['name']} {e['signature']}" for e in entries if e.get("signature"))
    sentences = [f"Step {scores.get('step', 0):,}", *counted]
    intervals = f"95% intervals: {'; '.join(how)}." if how else ""
    return " ".join([f"{'. '.join(sentences)}.", intervals, *(f"{each}." for each in signed)]).strip()


def score_rows(parts: Mapping[str, Report]) -> tuple[tuple[str, ...], list[Row]]:
    """Columns and rows: each score with its interval and n, a part beside the other."""
    columns = ["score"]
    for name in parts:
        columns += [f"#{name}", "#95% interval", "#n"]
    names = list(dict.fromkeys(str(e["name"]) for part in parts.values() for e in part["scores"]))
    rows = []
    for name in names:
        cells = [name]
        for part in parts.values():
            entry = next((e for e in part["scores"] if e["name"] == name), None)
            if entry is None:
                cells += ["–"] * 3
                continue
            n = entry["n"] if "right" in entry else None
            cells += [runs.worded(name, float(entry["value"]), n=n), _within(entry), f"{entry['n']:,}"]
        rows.append(Row(name, cells))
    return tuple(columns), rows


def _within(entry: Report) -> str:
    low, high = entry.get("low"), entry.get("high")
    if low is None or high is None:
        return "–"
    return f"{runs.worded(str(entry['name']), low)} to {runs.worded(str(entry['name']), high)}"


def class_rows(rows: Sequence[Report]) -> tuple[tuple[str, ...], list[Row]]:
    """Precision, recall and F1 of each class; "–" where there is nothing to divide by."""

    def words(value: float | None) -> str:
        return "–" if value is None else f"{value:.3f}"

    table_rows = []
    for at, row in enumerate(rows):
        shares = [words(row[name]) for name in ("precision", "recall", "f1")]
        table_rows.append(Row(str(at), [str(row["class"])[:MOST_CELL], *shares, f"{row['n']:,}"]))
    return ("class", "#precision", "#recall", "#F1", "#n"), table_rows


def error_rows(rows: Sequence[Report]) -> tuple[tuple[str, ...], list[Row]]:
    """The error of each class of pictures as a share of the variance, with its interval."""
    table_rows = []
    for at, row in enumerate(rows):
        cells = [str(row["class"]), runs.number(row["value"]), _within({**row, "name": "error"})]
        table_rows.append(Row(str(at), [*cells, f"{row['n']:,}"]))
    return ("class", "#error (share of variance)", "#95% interval", "#n"), table_rows


def examples_of(held_out: Report) -> tuple[Sequence[Report], str, tuple[tuple[str, ...], list[Row]]]:
    """The examples that went most wrong, the table's caption, and its columns and rows."""
    if held_out.get("translations"):
        examples, caption = held_out["translations"][:MOST_ROWS], "Translations, the worst first"
        columns: tuple[str, ...] = ("text", "#chrF", "made", "wanted")
        cells = [[e["text"], f"{e['chrf']:.1f}", e["made"], e["wanted"]] for e in examples]
    elif held_out.get("wrong"):
        examples, caption = held_out["wrong"][:MOST_ROWS], "Most wrong, the highest loss first"
        columns = ("text", "truth", "answer", "#its probability", "#loss")
        cells = [
            [e["text"], e["truth"], e["answer"], f"{e['probability']:.3f}", runs.number(e["loss"])]
            for e in examples
        ]
    elif held_out.get("errors", {}).get("wrong"):
        examples, caption = held_out["errors"]["wrong"][:MOST_ROWS], "Pictures with the highest error"
        columns = ("held-out picture", "class", "#error (share of variance)")
        cells = [[e["text"], e["class"], runs.number(e["value"])] for e in examples]
    else:
        return [], "", ((), [])
    rows = [
        Row(str(at), [_cut(cell) for cell in row], opened=False if examples[at].get("text") else None)
        for at, row in enumerate(cells)
    ]
    return examples, caption, (columns, rows)


def _cut(text: object) -> str:
    line = " ".join(str(text).split())
    return line if len(line) <= MOST_CELL else f"{line[: MOST_CELL - 1]}…"


def panels_of(parts: Mapping[str, Report]) -> list[Panel]:
    """The confusion matrix of the held-out part, and the loss by position of every part with its band."""
    known = parts.get("held out", {}).get("classes")
    bands = {name: part["positions"] for name, part in parts.items() if part.get("positions")}
    confusion = [confusion_panel(known)] if known and len(known["names"]) <= MOST_CLASSES else []
    return [*confusion, *([position_panel(bands)] if bands else [])]


def confusion_panel(known: Report) -> Matrix:
    """Who is taken for whom: each row's counts, coloured as shares of the row."""
    counts = np.asarray(known["confusion"], dtype=np.float64)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = [str(name)[:24] for name in known["names"]]
    return Matrix(
        title="truth and answer, held out",
        values=shares.astype(np.float32),
        rows=names,
        columns=names,
        row_axis="truth",
        column_axis="answer",
        scale="weights",
        quantity="share of the true class",
        texts=[[f"{int(count)}" for count in row] for row in counts],
    )


def position_panel(bands: Mapping[str, Report]) -> Curves:
    """The mean loss at each position, with the band of its 95% interval."""
    last = max(band["position"][-1] for band in bands.values())
    x = np.arange(1, last + 1, dtype=np.float64)
    lines, colours = list[Line](), dict[str, Colour](zip(PARTS, ("accent", "muted"), strict=True))
    for name, band in bands.items():
        at = np.asarray(band["position"], dtype=np.int64) - 1
        y, low, high = (np.full(last, np.nan) for _ in range(3))
        for array, field in ((y, "loss"), (low, "low"), (high, "high")):
            array[at] = band[field]
        lines.append(Line(y=y, name=name, colour=colours[name], low=low, high=high))
    return Curves(title="loss by position", x=x, lines=lines, x_label="position", y_label="nats")


def notice_of(parts: Mapping[str, Report]) -> str:
    """A sentence about the panels."""
    held_out = parts.get("held out", {})
    if "classes" in held_out:
        return "A row is a true class, its cells the shares that each class got."
    if held_out.get("positions"):
        return "A loss that falls along the text shows that earlier text is used; the band is 95%."
    return "Originals above what the model makes of them."
