"""Lists of whole numbers as a line of text has them: 2,5-7."""

import re
from collections.abc import Collection
from itertools import groupby

MOST = 99_999
LONGEST = 4_096
"""Numbers of one list: more fit no screen, and lines of text name many of them with few characters."""


def read_numbers(text: str, what: str) -> tuple[int, ...] | None:
    """The numbers of "2,5-7", in order, each once; None for "all". Raises ValueError for other words."""
    if text.strip() == "all":
        return None
    found: set[int] = set()
    for part in text.split(","):
        match = re.fullmatch(r"\s*([0-9]{1,5})(?:\s*-\s*([0-9]{1,5}))?\s*", part)
        if match is None or int(match[1]) > int(match[2] or match[1]):
            raise ValueError(f"{what} {text.strip()[:40]!r} is no list of whole numbers; write such as 2,5-7")
        numbers = range(int(match[1]), int(match[2] or match[1]) + 1)
        if len(found) + len(numbers) > LONGEST:
            raise ValueError(f"{what} names more than {LONGEST:,} numbers; name fewer, or write all")
        found.update(numbers)
    return tuple(sorted(found))


def write_numbers(numbers: tuple[int, ...]) -> str:
    """The shortest such list of increasing numbers."""
    runs = [[n for _, n in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ",".join(_written(run) for run in runs)


def named_numbers(numbers: Collection[int]) -> str:
    """Numbers as a sentence has them: "0 to 5", or "3, 7 and 11" where some between are missing."""
    first, *_, last = ordered = [min(numbers), *sorted(numbers)]
    if last - first == len(numbers) - 1:
        return f"{first} to {last}"
    return f"{', '.join(map(str, ordered[1:-1]))} and {last}"


def _written(run: list[int]) -> str:
    return f"{run[0]}-{run[-1]}" if len(run) > 2 else ",".join(map(str, run))
