"""The order of the data's way, and what is looked at on it."""

import numpy as np
import pytest
import torch

from attention_lab.pages.lab.translation import flow
from attention_lab.pages.lab.translation.inputs import Inputs
from tests.pages.lab.boards import close, panel

N_STEPS, N_SOURCE, ENCODER = 15, 14, 6


@pytest.fixture(scope="module")
def board():
    return flow.lesson(Inputs()).board


def frame(step: int, place: int) -> int:
    """Of a step (from 0), the frame of its part number `place`: 0 embedding ... 9 the chosen word."""
    return ENCODER + 10 * step + place


def test_a_frame_for_every_part_of_every_step(board):
    assert len(board.notice) == len(board.scrub.values) == ENCODER + 10 * N_STEPS
    assert board.scrub.words[:2] == ["encoder: embedding", "encoder: self-attention 0"]
    assert board.scrub.words[frame(10, 5)] == "step 11: cross-attention 1"
    assert board.scrub.words[frame(10, 9)] == "step 11: chosen word"
    assert Inputs().moment == 0  # where a first visit stands


def test_cross_attention_fills_layer_by_layer(board, traced):
    shown = panel(board, "cross-attention of this step").values
    for step in (0, 5, 10):
        first, second = (traced[f"decoder.{layer}.cross.pattern"][:, step] for layer in range(2))
        close(shown[frame(step, 9)], torch.cat([first, second]))
        close(shown[frame(step, 2), :4], first)
        assert np.isnan(shown[frame(step, 2), 4:]).all()
        assert np.isnan(shown[frame(step, 1)]).all()
    assert np.isnan(shown[:ENCODER]).all()


def below(bars, at: int) -> list[str]:
    """What stands below the bars in a frame."""
    return bars.words.rows[bars.words.at[at]]


def test_logits_then_probabilities_of_the_same_words(board, traced, translator):
    bars = panel(board, "the 8 likeliest of 1,564 words")
    vocabulary = translator.task.words.vocabulary
    for step in range(N_STEPS):
        best = traced["logits"][step].topk(8)
        words, logits = zip(*(text.split("\t") for text in below(bars, frame(step, 7))), strict=True)
        assert list(words) == [vocabulary[id_] for id_ in best.indices.tolist()]
        shown = [float(logit.replace("−", "-")) for logit in logits]
        assert shown == pytest.approx(best.values.tolist(), abs=0.051)
        assert np.isnan(bars.values[frame(step, 7)]).all()
        close(bars.values[frame(step, 8)], traced["logits"][step].softmax(dim=-1).topk(8).values)
        following = [*traced.tokens["decoder"][1:], "<eos>"][step]
        assert words[0] == following


def test_the_words_of_a_step_are_not_shown_before_it(board):
    """The names of all words that will be written stood on the axes from the first frame on."""
    bars = panel(board, "the 8 likeliest")
    for step in range(N_STEPS):
        for place in range(7):
            assert not any(below(bars, frame(step, place)))
    assert not any(text for at in range(ENCODER) for text in below(bars, at))


def test_a_preset_lands_on_its_punchline():
    """It played for 40 s, to <eos>."""
    wide = flow.PART.tries[0]
    board = flow.lesson(Inputs(**wide.set)).board
    at = board.scrub.values.tolist().index(wide.set["moment"])
    assert board.scrub.words[at] == "step 11: chosen word"
    assert "“**elle**” is written" in board.notice[at]
    for other in flow.PART.tries[1:]:
        assert other.set["moment"] >= len(flow.lesson(Inputs(**other.set)).board.notice) - 1


def test_words_appear_as_they_are_chosen(board):
    words = panel(board, "the source")
    target = [node.id.startswith("t") for node in words.nodes]
    for step in range(N_STEPS):
        for place, written in ((8, step), (9, step + 1)):
            levels = words.levels[frame(step, place)][target]
            assert (levels > 0).tolist() == [True] * (1 + written) + [False] * (N_STEPS - written)
    for node in words.nodes:
        if node.id.startswith("t") and node.id != "t0":
            assert board.scrub.words[node.frame] == f"step {node.id[1:]}: chosen word"


def test_one_part_of_the_stacks_is_lit_and_the_memory_where_it_is_read(board):
    stacks = panel(board, "encoder, and decoder")
    names = [node.id for node in stacks.nodes]
    lit = [{names[at] for at in np.flatnonzero(levels == 3)} for levels in stacks.levels]
    assert lit[0] == {"e.embed.None"} and lit[ENCODER - 1] == {"e.memory.None"}
    assert lit[frame(3, 2)] == {"d.cross.0", "e.memory.None"}
    assert lit[frame(3, 3)] == {"d.ff.0"} and lit[frame(3, 9)] == {"d.word.None"}
    assert ("e.memory.None", "d.cross.1") in stacks.edges and len(stacks.edges) == 5 + 9 + 2


def test_notices_say_the_numbers(board, traced):
    mean = traced["decoder.1.cross.pattern"][:, 10].mean(dim=0)
    said = board.notice[frame(10, 5)]
    assert traced.tokens["encoder"][int(mean.argmax())] in said and f"**{mean.max():.2f}**" in said
    assert f"**{traced['logits'][10].softmax(-1).max():.3f}**" in board.notice[frame(10, 8)]
    assert "l'animal n'a pas traversé la rue parce qu'il était trop fatigué" in board.notice[-1]


def test_a_sentence_without_an_end_says_so():
    said = flow.lesson(Inputs(text="the beautiful table could")).board.notice[-1]
    assert said.endswith("is written: 20 words and no end; this page stops.")
