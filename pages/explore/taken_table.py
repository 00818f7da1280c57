"""What is open as a table: of a head, one row a cell; of sums and sweeps, one row a head."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pages.shared import takeaway

if TYPE_CHECKING:
    from pages.explore.taken import Shown


def csv_of(shown: Shown) -> str:
    """What the view shows as a table; words go through `takeaway.cells`, numbers as they are."""
    if shown.view.view == "sweep":
        return shown.sweep.table().to_csv(index=False)
    return (_sums(shown) if shown.view.view == "sums" else _cells(shown)).to_csv(index=False)


def _sums(shown: Shown) -> pd.DataFrame:
    """One row a head that sums are over: the weight on the chosen keys, in the mean of the chosen queries."""
    return pd.DataFrame(
        [(layer, head, weight) for (layer, head), weight in shown.sums().items()],
        columns=["layer", "head", "weight_on_chosen_keys"],
    )


def _cells(shown: Shown) -> pd.DataFrame:
    """One row a cell of the open head: query, key, weight, and what is traced of product, bias, score,
    and, where the pass was edited, the weight without edits.
    """
    arrays, without_edits = shown.of_head(), {}
    if shown.subject.inputs.edits:
        before = shown.of_head(shown.subject.unedited)["pattern"][shown.head]
        without_edits["weight_without_edits"] = before.ravel()
    dots = {}
    if shown.stack.attention.whole:
        q, k = arrays["q"][shown.head], arrays["k"][shown.key_head]
        dots["dot_product"] = (q.astype(np.float64) @ k.astype(np.float64).T).ravel()
    n_query, n_key = shown.stack.n_query, shown.stack.n_key
    queries, keys = shown.names(shown.stack.query_side), shown.names(shown.stack.key_side)
    return pd.DataFrame(
        {
            "query_position": np.repeat(np.arange(n_query), n_key),
            "query": np.repeat(np.array(takeaway.cells(queries), dtype=object), n_key),
            "key_position": np.tile(np.arange(n_key), n_query),
            "key": np.tile(np.array(takeaway.cells(keys), dtype=object), n_query),
            **dots,
            **{
                column: arrays[name][shown.head].ravel()
                for column, name in {"bias": "bias", "score": "scores", "weight": "pattern"}.items()
                if name in arrays
            },
            **without_edits,
        }
    )
