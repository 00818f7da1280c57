"""Teacher forcing against one position at a time; free running against the engine's greedy decoding."""

import pytest
import torch
from torch.nn import functional as F

from models.data.word_tokenizer import BOS, EOS
from models.engine.decoding import greedy
from models.lessons.translation import forcing
from models.lessons.translation.reading import Reading
from tests.models.lessons.translation.conftest import ids_of


@pytest.fixture(scope="module")
def reference(tired: Reading) -> torch.Tensor:
    return torch.tensor(ids_of(tired))


def edited(read: Reading, reference: torch.Tensor, word: str) -> torch.Tensor:
    return forcing.edits(reference, read.vocabulary.index(word))


def test_row_i_replaces_word_i():
    rows = forcing.edits(torch.tensor([7, 8, 9, EOS]), 5)
    assert rows.tolist() == [[BOS, 5, 8, 9], [BOS, 7, 5, 9], [BOS, 7, 8, 5]]


@torch.no_grad()
def test_one_pass_gives_what_single_positions_give(tired: Reading, reference: torch.Tensor):
    rows = edited(tired, reference, "elle")
    found = forcing.teacher_forcing(tired.model, tired.source_ids, rows, reference)
    for row in (0, 8, 10):
        for at in range(len(reference)):
            logits = tired.model(tired.source_ids, rows[row : row + 1, : at + 1])[0, -1]
            loss = F.cross_entropy(logits.double(), reference[at])
            assert found.loss[row, at].item() == pytest.approx(loss.item(), rel=1e-3, abs=1e-4)
            assert found.predicted[row, at] == logits.argmax()


def test_nothing_changes_before_the_replaced_word(tired: Reading, reference: torch.Tensor):
    before = forcing.judged(tired.logits[None], reference)
    found = forcing.teacher_forcing(
        tired.model, tired.source_ids, edited(tired, reference, "elle"), reference
    )
    for row in range(len(reference) - 1):
        torch.testing.assert_close(
            found.loss[row, : row + 1], before.loss[0, : row + 1], rtol=1e-3, atol=1e-5
        )
        assert torch.equal(found.predicted[row, : row + 1], before.predicted[0, : row + 1])
    assert before.loss.mean() < 0.001  # the reference is the translator's own sentence


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


def test_what_the_page_says_of_its_edits(tired: Reading, reference: torch.Tensor):
    def told(word: str, at: int) -> tuple[list[str], str]:
        rows = edited(tired, reference, word)
        found = forcing.teacher_forcing(tired.model, tired.source_ids, rows, reference)
        free = forcing.free_running(tired.model, tired.source_ids, rows, 20)[at - 1].tolist()
        changed = [
            tired.vocabulary[id_] for id_ in found.predicted[at - 1][found.predicted[at - 1] != reference]
        ]
        return changed, " ".join(tired.vocabulary[id_] for id_ in free if id_ != EOS)

    changed, alone = told("elle", 11)
    assert changed == ["fatiguée"] and alone.endswith("parce qu' elle était trop fatiguée")
    _, alone = told("a", 3)
    assert alone == "l' animal a traversé la rue parce qu' il était trop fatigué"  # "not" is lost
    _, alone = told("la", 9)
    assert alone.endswith("la rue la trop fatiguée")
