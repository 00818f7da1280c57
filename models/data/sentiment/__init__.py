"""Reviews and their verdicts: a corpus made here, and tables that a person brings."""

from models.data.sentiment.reviews import Review, is_held_out, sample_review, vocabulary
from models.data.sentiment.table import Table, read_table

__all__ = ["Review", "Table", "is_held_out", "read_table", "sample_review", "vocabulary"]
