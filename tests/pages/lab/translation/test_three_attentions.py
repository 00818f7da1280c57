"""Three attentions side by side: the engine's patterns, and what their notice says."""

import re

import numpy as np

from pages.lab.translation import three_attentions
from pages.lab.translation.inputs import Inputs
from tests.pages.lab.translation.conftest import close, panel

STACKS = {
    "encoder self-attention": "encoder.{}.self.pattern",
    "decoder self-attention": "decoder.{}.self.pattern",
    "cross-attention": "decoder.{}.cross.pattern",
}


def test_patterns_are_the_models_and_masked_where_it_may_not_look(traced):
    board = three_attentions.lesson(Inputs()).board
    for title, address in STACKS.items():
        shown = panel(board, title).values
        for head in range(8):
            pattern = traced[address.format(head // 4)][head % 4]
            hidden = np.isneginf(shown[head])
            close(np.where(hidden, 0, shown[head]), pattern)
            expected = np.triu(np.ones(pattern.shape), 1) if title.startswith("decoder") else 0 * pattern
            assert (hidden == np.asarray(expected, dtype=bool)).all()


def test_where_queries_keys_and_values_come_from():
    nodes = {node.id: node for node in panel(three_attentions.lesson(Inputs()).board, "where Q").nodes}
    origins = [[nodes[f"{use}{letter} from"].label for letter in "QKV"] for use in range(3)]
    assert origins == [["source"] * 3, ["target"] * 3, ["target", "memory", "memory"]]
    assert [nodes[f"2{letter}"].note for letter in "QKV"] == ["[4, 15, 16]", "[4, 14, 16]", "[4, 14, 16]"]
    assert [nodes[f"2{letter}"].colour for letter in "QKV"] == ["query", "key", "value"]


def test_notices_say_how_much_looks_ahead(traced):
    for head, said in enumerate(three_attentions.lesson(Inputs()).board.notice):
        encoder = traced[f"encoder.{head // 4}.self.pattern"][head % 4]
        cross = traced[f"decoder.{head // 4}.cross.pattern"][head % 4]
        ahead, none, sharpest = re.findall(r"\*\*(.*?)\*\*", said)
        assert ahead == f"{encoder.triu(1).sum(dim=1).mean():.2f}" and none == "0"
        assert sharpest == f"{cross.max():.2f}"


def test_questions():
    shape, first, values = three_attentions.questions()
    assert shape.options[shape.right] == "15 × 14"
    assert first.options[first.right] == "1"
    assert values.options[values.right] == "the memory"
