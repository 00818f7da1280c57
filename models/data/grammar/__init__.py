"""Generates English-French sentence pairs from a small grammar that knows what each pronoun means."""

from .pairs import Mention, Pair, counterpart, is_held_out, sample_pairs, showcase
