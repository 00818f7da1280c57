"""The same hand-made runs as the parts that Train and Runs share."""

from collections.abc import Sequence

from attention_lab.pages.runs import listing
from attention_lab.pages.shared.table import Row
from attention_lab.pages.shared.training.runs import Run
from tests.pages.shared.training.conftest import make_run, root

__all__ = ["make_run", "root"]


def rows_in_list(listed: Sequence[Run], chosen: Sequence[Run] = ()) -> list[Row]:
    """The rows of these runs in the list of Runs, some of which are chosen."""
    part = listing.ListSection("", tuple(listing.grouped(listed)))
    return listing.rows_of(part, [run.id for run in chosen], listing.columns_for(listed))
