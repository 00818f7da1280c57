"""A small bilingual grammar: seeded English-French sentence pairs whose pronouns have known antecedents."""

from .pairs import Mention, Pair, counterpart, is_held_out, sample_pairs, showcase
