"""Reviews and their verdicts: a corpus made here, and tables that a person brings."""

from models.data.sentiment.reviews import Review, is_held_out, sample_review, vocabulary

__all__ = ["Review", "is_held_out", "sample_review", "vocabulary"]
