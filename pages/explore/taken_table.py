"""The open head as a table: one row a cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from pages.shared import takeaway

if TYPE_CHECKING:
    from pages.explore.taken import Shown


def csv_of(shown: Shown) -> str:
    """One row a cell of the open head: query, key, weight, and what is traced of product, bias, score,
    and, where the pass was edited, the weight without edits.

    Words go through `takeaway.cells`, numbers as they are.
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
    table = pd.DataFrame(
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
    return table.to_csv(index=False)
