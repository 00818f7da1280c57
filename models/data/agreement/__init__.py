"""The beginnings of sentences up to their verb, whose number is that of a noun often far before it."""

from models.data.agreement.beginnings import Beginning, is_held_out, sample_beginning, vocabulary

__all__ = ["Beginning", "is_held_out", "sample_beginning", "vocabulary"]
