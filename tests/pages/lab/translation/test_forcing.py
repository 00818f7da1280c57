"""Teacher forcing against the cross-entropy of the reference; free running against greedy decoding."""

import pytest
import torch

from attention_lab.models.data.word_tokenizer import EOS
from attention_lab.models.engine.decoding import greedy
from attention_lab.pages.lab.translation import forcing
from attention_lab.pages.lab.translation.inputs import SENTENCE, Inputs, Reading
from tests.pages.lab.boards import close, facts, panel
from tests.pages.lab.translation.conftest import ids_of


@pytest.fixture(scope="module")
def reference(tired: Reading) -> torch.Tensor:
    return torch.tensor(ids_of(tired))


def edited(read: Reading, reference: torch.Tensor, word: str) -> torch.Tensor:
    return forcing.edits(reference, read.vocabulary.index(word))


@pytest.mark.parametrize("word", ["elle", "la"])
def test_alone_it_goes_on_as_greedy_does(tired: Reading, reference: torch.Tensor, word: str):
    rows = edited(tired, reference, word)
    written = forcing.free_running(tired.model, tired.source_ids, rows, 20)
    for row in range(0, len(rows), 3):
        begun = rows[row : row + 1, : row + 2]
        alone = greedy(
            tired.model, begun, source=tired.source_ids, eos_id=EOS, max_new_tokens=20 - (row + 1)
        )[0, 1:].tolist()
        mine = written[row].tolist()
        assert mine[: len(alone)] == alone
        assert set(mine[len(alone) :]) <= {EOS}


def forced(translator, traced, put: str, at: int) -> torch.Tensor:
    """-ln p of the reference at each position, with the word at place `at` replaced in what is read."""
    words = traced.tokens["decoder"][1:]
    read = [*words[: at - 1], put, *words[at:]]
    ids = [1, *map(translator.task.words.id, read)]
    source = torch.tensor([translator.task.encode_source(SENTENCE).ids])
    with torch.no_grad():
        log_p = translator.model(source, torch.tensor([ids]))[0].log_softmax(dim=-1)
    labels = [*map(translator.task.words.id, words), 2]
    return -log_p[torch.arange(len(labels)), labels]


def test_losses_are_the_cross_entropy_of_the_reference(translator, traced):
    board = forcing.lesson(Inputs()).board
    bars, means = panel(board, "teacher forcing: −ln p"), facts(board)["mean loss now"]
    for at in (1, 3, 11, 14):
        expected = forced(translator, traced, "elle", at)
        torch.testing.assert_close(torch.as_tensor(bars.values[at - 1]), expected, rtol=1e-3, atol=1e-4)
        close(means[at - 1], expected.mean())


def shown(diagram, frame: int, row: int) -> list[str]:
    there = [
        node
        for node, level in zip(diagram.nodes, diagram.levels[frame], strict=True)
        if level and node.row == row
    ]
    return [node.label for node in sorted(there, key=lambda node: node.column)]


def test_each_frame_shows_its_own_words(traced):
    board = forcing.lesson(Inputs()).board
    words = traced.tokens["decoder"][1:]
    fed, alone = panel(board, "teacher forcing: words"), panel(board, "free running")
    for at in range(1, 15):
        assert shown(fed, at - 1, 0) == ["<bos>", *words[: at - 1], "elle", *words[at:]]
        assert shown(fed, at - 1, 1)[:at] == words[:at]
        assert shown(alone, at - 1, 0)[:at] == [*words[: at - 1], "elle"]
    passes = facts(board)["passes, alone"]
    for frame in range(14):  # a sentence longer than the reference goes on in the next row
        assert len(shown(alone, frame, 0) + shown(alone, frame, 1)) == passes[frame]
    assert max(node.column for node in alone.nodes) == 14 and max(passes) > 15
    assert shown(fed, 10, 1) == [*words[:13], "fatiguée", "<eos>"]
    lit = [node.label for node, level in zip(fed.nodes, fed.levels[10], strict=True) if level == 3]
    assert sorted(lit) == ["elle", "fatiguée"]


def test_passes_and_changes_are_counted():
    shown = facts(forcing.lesson(Inputs(put="a")).board)
    assert shown["passes, forced"] == "1"
    assert (
        shown["passes, alone"][2] == 13
    )  # l' animal a traversé la rue parce qu' il était trop fatigué <eos>
    assert shown["predictions changed"][3] == 0  # “a” for “a”
    assert shown["predictions changed"][2] == 2


def test_notices_tell_both_ways():
    said = forcing.lesson(Inputs()).board.notice[10]
    assert (
        "“elle” is fed in place of “il”. Teacher forcing changes **1** of 15 predictions: "
        "“fatigué” → “fatiguée”" in said
    )
    assert "Teacher forcing changes **none**" in forcing.lesson(Inputs(put="a")).board.notice[3]


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"put": ""}, "“” is 0 words; write exactly one, such as elle."),
        ({"text": ""}, "The sentence is empty; type at least one word."),
    ],
)
def test_what_cannot_be_put_is_explained(fields: dict, sentence: str):
    with pytest.raises(ValueError, match=sentence):
        forcing.lesson(Inputs(**fields))
