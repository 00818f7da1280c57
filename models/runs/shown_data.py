"""What `data` prints: a task's data as it will be read, before anything is trained."""

from __future__ import annotations

from models.data.data_summary import DataSummary, ShownExample, ShownToken, sentences

_MOST_CLASSES, _BAR = 30, 40


def told(look: DataSummary) -> str:
    """A look at a task's data as lines of text."""
    lines = sentences(look.source) if look.source is not None else []
    for split, size in look.sizes.items():
        lines.append(f"{split}: {'made at random' if size is None else f'{size:,} {look.unit}'}")
    if look.vocabulary is not None:
        unknown = "" if look.unknown is None else f", {look.unknown:.2%} of held-out tokens are not in it"
        lines.append(f"vocabulary: {look.vocabulary:,} tokens{unknown}")
    if look.padding is not None:
        lines.append(f"padding: {look.padding:.1%} of what is read, in batches of {look.batch_size}")
    if look.classes:
        lines += ["", "examples of each class:"]
        lines += _bars({name: n for name, n in list(look.classes.items())[:_MOST_CLASSES]})
    if look.lengths and look.room is not None:
        lines += [
            "",
            f"lengths of {look.measured:,} examples in tokens: median {look.median:,.0f}, longest "
            f"{look.longest:,}; {look.cut or 0.0:.1%} are cut at {look.room:,}",
        ]
        lines += _bars({f"to {end:,}": n for end, n in zip(look.ends, look.lengths, strict=True) if n})
    if look.examples:
        lines += ["", "the first examples, as the model reads them (what is asked at a token follows →):"]
        lines += [line for shown in look.examples for line in _example(shown)]
    return "\n".join(lines)


def _bars(counts: dict[str, int]) -> list[str]:
    most, width = max(counts.values()), max(map(len, counts))
    return [f"  {name:<{width}}  {n:>9,}  {'#' * round(_BAR * n / most)}" for name, n in counts.items()]


def _example(shown: ShownExample) -> list[str]:
    lines = [f"  {shown.text}"] if shown.text else []
    for side, cells in shown.sides.items():
        lines.append(f"  {side}: {' | '.join(map(_cell, cells))}{' | …' if shown.more else ''}")
    return [*lines, f"  answer: {shown.answer}", ""] if shown.answer else [*lines, ""]


def _cell(cell: ShownToken) -> str:
    token = cell.token.replace("\n", "↵")
    return f"{token}→{cell.target}".replace("\n", "↵") if cell.target else token
