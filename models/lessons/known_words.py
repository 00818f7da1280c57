"""Sentences that a lesson can show: no longer than its page has room for, and of words that are known."""

from models.data.word_tokenizer import Unknown


def check_length(n_words: int, most: int) -> None:
    """Raises ValueError for a sentence without words, and for one with more than a page draws."""
    if not n_words:
        raise ValueError("The sentence is empty; type at least one word.")
    if n_words > most:
        raise ValueError(
            f"The sentence has {n_words} words; this page draws at most {most}; remove {n_words - most}."
        )


def check_known(unknown: list[Unknown], n_words: int) -> None:
    """Raises ValueError that names the first unknown word and the nearest known ones."""
    if unknown:
        first = unknown[0]
        near = f"; try {' or '.join(first.suggestions)}" if first.suggestions else "; choose another word"
        raise ValueError(f"The translator's {n_words:,} words do not include “{first.text}”{near}.")
