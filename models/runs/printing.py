"""What the command line prints of runs and tasks: tables, and one progress bar per run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tqdm import tqdm

from ..data.data_summary import DataSummary, TokenPreview, sentences
from ..fields import SWITCH, options_of
from ..files import FileError
from .folder import RunFolder, matches, read_status, tags_of
from .results import history_of, read_best, short_outcome

if TYPE_CHECKING:
    from ..training.config import RunConfig
    from ..training.loop import Record


class Bar:
    """A progress bar over a run's steps, with its loss, its last validation and its speed."""

    def __init__(self, config: RunConfig) -> None:
        self._bar = tqdm(total=config.training.steps, unit="step", mininterval=0.5, dynamic_ncols=True)
        self._validation: dict[str, str] = {}

    def close(self) -> None:
        """Leaves the bar as it is; what is printed next begins a line."""
        self._bar.close()

    def show(self, record: Record) -> None:
        """Moves the bar one step on; the bar of a resumed run begins where the run stopped."""
        if self._bar.n == 0 and record.step > 1:
            self._bar.n = self._bar.initial = record.step - 1
        if record.validation:
            self._validation = {f"held-out {name}": f"{v:.4g}" for name, v in record.validation.items()}
        numbers = {"loss": f"{record.loss:.4f}", "tokens/s": f"{record.tokens_per_second:,.0f}"}
        if record.share_of_peak is not None:
            numbers["share of peak"] = f"{record.share_of_peak:.1%}"
        self._bar.set_postfix(numbers | self._validation, refresh=False)
        self._bar.update(record.step - self._bar.n)


def align(rows: Sequence[Sequence[str]]) -> str:
    """Rows of words in columns; the first row holds the columns' names."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(f"{word:<{width}}" for word, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    )


def runs_table(runs: Sequence[RunFolder]) -> str:
    """All runs with their state, newest first. The loss is that of the last validation, as on the page; its
    step is said where the run has gone further. Tags, and the steps since which settings are others, have
    columns where any run has them. Below stands why a paused run could not go on.
    """
    refused = []
    rows = [("RUN", "TASK", "STATE", "STEP", "HELD-OUT LOSS", "BEST", "NAME", "TAGS", "CHANGED")]
    for run in runs:
        described: dict[str, Any] = {}
        row: tuple[str, ...]
        try:
            described, lines = run.description(), run.metrics()
            status = read_status(run.path)
            last_step = status.step or (lines[-1]["step"] if lines else 0)
            step = f"{last_step:,} of {described['training'].get('steps') or status.steps:,}"
            line = next((line for line in reversed(lines) if "validation" in line), None)
            loss = "" if line is None else f"{line['validation']['loss']:.4f}"
            loss += "" if line is None or line["step"] == last_step else f" at {line['step']:,}"
            state = ", ".join(filter(None, (status.state, short_outcome(status))))
            if status.refused:
                refused.append(f"{run.id} could not be resumed: {status.sentence}")
            row = (run.id, str(described["task"]["name"] or ""), state, step, loss, _best(run), run.name)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            why = str(error) if isinstance(error, ValueError) else "its files do not describe a run"
            row = (run.id, "", "damaged", "", "", "", why)
        changed = ", ".join(f"at {entry['step']:,}" for entry in history_of(described))
        rows.append((*row, ", ".join(tags_of(described)), changed))
    if len(rows) == 1:
        return "no runs yet; `run --task reverse` starts one"
    columns = [column for at, column in enumerate(zip(*rows, strict=True)) if at < 7 or any(column[1:])]
    return "\n".join([align(list(zip(*columns, strict=True))), *refused])


def filtered(runs: Sequence[RunFolder], words: str) -> list[RunFolder]:
    """The runs that a filter finds; a damaged one is found by its id."""
    matching = []
    for run in runs:
        try:
            described = {"name": run.id, **run.description()}
        except ValueError:
            described = {"name": run.id}
        state = read_status(run.path).state
        if not words or matches(words, described, state):
            matching.append(run)
    return matching


def _best(run: RunFolder) -> str:
    """The best validation whose weights are kept, and its step."""
    try:
        best = read_best(run.path)
    except FileError:
        return "damaged"
    return f"{best.score} {best.value:.4g} at {best.step:,}" if best else ""


def tasks_table() -> str:
    """Every task with its options: the name, default, meaning and values of each."""
    from ..data.tasks import TASKS

    lines = []
    for name, kind in TASKS.items():
        lines += [f"{name}: {kind.title} ({kind.kind})", f"    {kind.see}"]
        for name, option in options_of(kind).items():
            options = () if option.rule is SWITCH else option.rule.options
            may = f" [{', '.join(map(str, options))}]" if options else ""
            lines.append(f"    {name}={option.default}  {option.help}{may}")
    return "\n".join(lines)


# The summary of a task's data

_MOST_CLASSES, _BAR = 30, 40


def data_lines(summary: DataSummary) -> str:
    """What a task's data is, as it will be read, as lines of text."""
    lines = sentences(summary.source) if summary.source is not None else []
    for split, size in summary.sizes.items():
        lines.append(f"{split}: {'made at random' if size is None else f'{size:,} {summary.unit}'}")
    if summary.vocabulary is not None:
        unknown = f", {summary.unknown or 0:.2%} of held-out tokens are not in it"
        words = f"vocabulary: {summary.vocabulary:,} tokens"
        lines.append(words if summary.unknown is None else f"{words}{unknown}")
    if summary.padding is not None:
        lines.append(f"padding: {summary.padding:.1%} of what is read, in batches of {summary.batch_size}")
    if summary.classes:
        lines += ["", "examples of each class:"]
        lines += _bars({name: n for name, n in list(summary.classes.items())[:_MOST_CLASSES]})
    if summary.lengths and summary.room is not None:
        lines += [
            "",
            f"lengths of {summary.measured:,} examples in tokens: median {summary.median:,.0f}, longest "
            f"{summary.longest:,}; {summary.cut or 0.0:.1%} are cut at {summary.room:,}",
        ]
        lines += _bars({f"to {end:,}": n for end, n in zip(summary.ends, summary.lengths, strict=True) if n})
    if summary.examples:
        lines += ["", "the first examples, as the model reads them (what is asked at a token follows →):"]
    for example in summary.examples:
        lines += [f"  {example.text}"] if example.text else []
        for side, cells in example.sides.items():
            lines.append(f"  {side}: {' | '.join(map(_cell, cells))}{' | …' if example.more else ''}")
        lines += [f"  answer: {example.answer}", ""] if example.answer else [""]
    return "\n".join(lines)


def _bars(counts: dict[str, int]) -> list[str]:
    most, width = max(counts.values()), max(map(len, counts))
    return [f"  {name:<{width}}  {n:>9,}  {'#' * round(_BAR * n / most)}" for name, n in counts.items()]


def _cell(cell: TokenPreview) -> str:
    token = cell.token.replace("\n", "↵")
    return f"{token}→{cell.target}".replace("\n", "↵") if cell.target else token
