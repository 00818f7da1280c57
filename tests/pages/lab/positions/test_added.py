"""Waves, shifts and learned vectors: what the page shows, against plain loops and the weights."""

import math
import re

import numpy as np
import pytest

from attention_lab.models.zoo import load_model
from attention_lab.pages.lab.positions import learned, shift, waves
from attention_lab.pages.lab.positions.inputs import SENTENCE, Inputs
from tests.pages.lab.boards import facts, panel


def wave(position: int, channel: int, d_model: int, base: float) -> float:
    angle = position / base ** (2 * (channel // 2) / d_model)
    return math.cos(angle) if channel % 2 else math.sin(angle)


def test_the_table_and_its_waves_are_the_formula_at_every_base():
    board = waves.lesson(Inputs(d_model=8)).board
    table = panel(board, "PE: one vector for each position").values
    lines = panel(board, "four of its columns as waves").lines
    for frame, base in ((0, 10.0), (36, 10_000.0), (60, 1_000_000.0)):
        assert board.scrub.values[frame] == pytest.approx(base)
        expected = [[wave(p, c, 8, base) for c in range(8)] for p in range(48)]
        np.testing.assert_allclose(table[frame], expected, atol=1e-9)
        for line in lines:
            channel = int(line.name.split()[1])
            np.testing.assert_allclose(line.y[frame], [row[channel] for row in expected], atol=1e-9)


def test_the_notice_tells_the_slowest_wave_and_that_products_know_the_distance_only():
    board = waves.lesson(Inputs()).board
    for frame in (0, 36):
        base = board.scrub.values[frame]
        length = re.findall(r"\*\*(\d[\d,]*)", board.notice[frame])[0]
        assert float(length.replace(",", "")) == pytest.approx(2 * math.pi * base ** (30 / 32), abs=0.5)
        assert re.search(r", within \*\*(0|\d\.\d\s×\s10⁻¹[³⁴⁵⁶])\*\*", board.notice[frame])


def test_products_at_a_distance_are_sums_of_cosines():
    board = waves.lesson(Inputs(d_model=16)).board
    for name, k in (("product, 5 apart", 5), ("product, 20 apart", 20)):
        expected = [sum(math.cos(k / base ** (2 * i / 16)) for i in range(8)) for base in board.scrub.values]
        np.testing.assert_allclose(facts(board)[name], expected, atol=1e-9)


def test_the_matrix_turns_the_vector_into_that_of_the_shifted_position():
    board = shift.lesson(Inputs(start=60)).board
    turned = panel(board, "turned").values[..., 0]
    assert len(board.scrub.values) == 33
    for k in (0, 1, 32):
        expected = [wave(60 + k, c, 8, 10_000) for c in range(8)]
        np.testing.assert_allclose(turned[k], expected, atol=1e-12)
        np.testing.assert_allclose(panel(board, "PE(p+k)").values[k, :, 0], expected, atol=1e-12)
    matrix = panel(board, "M_k, made from k").values[3]
    assert matrix[0, :2] == pytest.approx([math.cos(3), math.sin(3)])
    assert matrix[1, :2] == pytest.approx([-math.sin(3), math.cos(3)])
    assert "the table differs by" in board.notice[3]


def test_the_clock_hands_are_pairs_of_channels():
    board = shift.lesson(Inputs(start=10)).board
    for pair in range(4):
        hands = panel(board, f"channels {2 * pair} and {2 * pair + 1}").vectors[5]
        for hand, position in zip(hands, (10, 15), strict=True):
            assert hand == pytest.approx([wave(position, 2 * pair + xy, 8, 10_000) for xy in (0, 1)])


def test_learned_vectors_are_the_weights_of_the_shipped_model():
    weights = load_model("positions/learned").model.decoder.positions.embedding.weight.detach().numpy()
    expected = weights * math.sqrt(weights.shape[1])
    board = learned.lesson(Inputs()).board
    np.testing.assert_allclose(panel(board, "what is added to the words").values, expected, rtol=1e-5)
    products = panel(board, "dot products of positions").values
    np.testing.assert_allclose(products, expected @ expected.T, rtol=1e-4, atol=1e-3)
    directions = expected / np.linalg.norm(expected, axis=1, keepdims=True)
    likeness = directions @ directions.T - 2 * np.eye(32)
    nearest = likeness.argmax(axis=1)
    assert facts(board)["most like the chosen one"].tolist() == nearest.tolist()
    near = int((abs(nearest - np.arange(32)) <= 3).sum())
    assert facts(board)["most like one within 3 places"] == f"{near} of 32"
    for place in (0, 12, 31):
        assert f"most like **{nearest[place]}**" in board.notice[place]


def test_learned_vectors_look_at_the_same_board_as_waves():
    board = learned.lesson(Inputs(table="sinusoidal")).board
    table = panel(board, "what is added to the words").values
    np.testing.assert_allclose(table[20], [wave(20, c, 48, 10_000) for c in range(48)], atol=1e-5)


def test_the_longest_learned_vectors_are_measured():
    lengths = np.linalg.norm(
        panel(learned.lesson(Inputs()).board, "what is added to the words").values, axis=1
    )
    said = learned.PART.questions()[0].because
    assert f"Position 0 has length {lengths[0]:.1f}, position 31 {lengths[31]:.1f}" in said
    assert f"the middle {lengths[15:17].mean():.1f}; every wave vector {math.sqrt(24):.1f}" in said


def test_words_and_positions_are_measured_before_they_are_added():
    trace = load_model("positions/learned").trace(SENTENCE)
    words = trace["decoder.embed"]
    places = trace["decoder.0.resid_pre"] - words
    word, place = (each.norm(dim=-1).mean().item() for each in (words, places))
    said = learned.PART.questions()[1].because
    assert f"has length {word:.1f} on average, its position's {place:.1f}" in said
