"""Lessons show no word that the translator can only read as <unk>."""

from models.data.word_tokenizer import Unknown


def check_known(unknown: list[Unknown], n_words: int) -> None:
    """Raises ValueError that names the first unknown word and the nearest known ones."""
    if unknown:
        first = unknown[0]
        near = f"; try {' or '.join(first.suggestions)}" if first.suggestions else "; choose another word"
        raise ValueError(f"The translator's {n_words:,} words do not include “{first.text}”{near}.")
