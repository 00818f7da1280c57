"""Special tokens left out of a pattern, against plain loops; and what the browser gets of it."""

import json
import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention_lab.models.config import POSITION_SCHEMES
from attention_lab.pages.explore.payload import (
    ARRAYS,
    ROWS,
    WINDOW,
    Hiding,
    Opened,
    build,
    hiding_of,
    special_positions,
)
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import Subject, subject_of
from attention_lab.pages.explore.takeaway import StageView
from tests.models.zoo.hub import families
from tests.pages.explore.answer_header import linked


def words(count: int) -> str:
    return " ".join(f"w{at}" for at in range(count))


def unpack(data: bytes) -> tuple[dict, memoryview]:
    (length,) = struct.unpack_from("<I", data)
    start = -(-(4 + length) // 8) * 8
    return json.loads(data[4 : 4 + length]), memoryview(data)[start:]


def array_of(reference: dict, blocks: memoryview) -> np.ndarray:
    offset, kind, shape = reference["$"]
    return np.frombuffer(blocks, kind, int(np.prod(shape)), offset).reshape(shape)


def exact_arrays(block: dict, blocks: memoryview) -> dict[str, np.ndarray]:
    """What data.js reads, read again here from the format's description."""
    return {name: array_of(reference, blocks) for name, reference in block["arrays"].items()}


@pytest.mark.parametrize("mask", ["none", "causal", "causal+padding"])
def test_a_short_text_arrives_whole_and_equal_to_the_trace(mask: str) -> None:
    inputs = Inputs(model="untrained", text=words(9), n_layers=2, n_heads=3, d_model=48, mask=mask)
    subject = subject_of(inputs)
    trace = subject.run(None)
    header, blocks = unpack(build(subject, Opened()).packed.message(g=1))
    assert header["g"] == 1
    assert [(b["layer"], b["heads"]) for b in header["exact"]] == [(0, [0, 1, 2]), (1, [0, 1, 2])]
    for block in header["exact"]:
        assert [name for name in block["arrays"] if name not in ROWS] == [n for n in ARRAYS if n != "bias"]
        arrays = exact_arrays(block, blocks)
        assert ("hidden" in arrays) == ("left" in arrays) == ("padding" in mask)
        for name, array in arrays.items():
            if name in ROWS:
                continue
            np.testing.assert_array_equal(array, trace[f"encoder.{block['layer']}.self.{name}"].numpy())


@pytest.mark.parametrize("positions", POSITION_SCHEMES)
def test_the_bias_of_positions_arrives_where_there_is_one(positions: str) -> None:
    inputs = Inputs(
        model="untrained", text=words(200), n_layers=1, n_heads=3, d_model=48, positions=positions
    )
    subject = subject_of(inputs)
    trace = subject.run(None)
    header, blocks = unpack(build(subject, Opened(q0=20, k0=5)).packed.message(generation=1))
    (block,) = header["exact"]
    arrays = exact_arrays(block, blocks)
    assert (
        ("bias" in arrays)
        == subject.stacks[0].attention.has_bias
        == (positions in ("alibi", "t5", "transformer-xl"))
    )
    assert header["stacks"][0]["turned"] == ([0] if positions == "rotary" else [])
    queries, keys = (slice(block[at], block[at] + block[n]) for at, n in (("q0", "nq"), ("k0", "nk")))
    for name in {"bias", "scores", "pattern"} & set(arrays):
        expected = trace[f"encoder.0.self.{name}"][block["heads"], queries, keys].numpy()
        np.testing.assert_array_equal(arrays[name], expected)
    scale = header["stacks"][0]["scales"][0]
    scores = scale * arrays["q"] @ arrays["k"].swapaxes(1, 2) + arrays.get("bias", 0)
    np.testing.assert_allclose(arrays["scores"], scores, atol=1e-5)


def test_a_long_text_sends_the_open_head_through_a_window_and_the_others_as_bytes() -> None:
    inputs = Inputs(model="untrained", text=words(300), n_layers=2, n_heads=8)
    subject = subject_of(inputs)
    header, blocks = unpack(build(subject, Opened(layer=1, head=5, q0=100, k0=290)).packed.message(g=1))
    (block,) = header["exact"]
    assert (block["layer"], block["heads"], block["q0"], block["k0"]) == (1, [5], 100, 300 - WINDOW)
    arrays = exact_arrays(block, blocks)
    trace = subject.run(None)
    rows, columns = slice(100, 100 + WINDOW), slice(300 - WINDOW, 300)
    np.testing.assert_array_equal(
        arrays["pattern"][0], trace["encoder.1.self.pattern"][5, rows, columns].numpy()
    )
    np.testing.assert_array_equal(arrays["v"][0], trace["encoder.1.self.v"][5, columns].numpy())
    others = array_of(block["coarse"], blocks)
    assert (others.dtype, others.shape) == (np.uint8, (8, WINDOW, WINDOW))
    pattern = trace["encoder.1.self.pattern"][:, rows, columns].numpy()
    np.testing.assert_array_equal(others, np.rint(pattern * 255))


def test_steps_are_the_softmax_of_the_traces_logits() -> None:
    inputs = Inputs(model="untrained", text="b a b")
    subject = subject_of(inputs)
    body = build(subject, Opened())
    header, _ = unpack(body.packed.message(g=1))
    logits = subject.run(None)["logits"].double().numpy()[:, :3]  # <pad>, b, a
    expected = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    for step, row in zip(header["steps"], expected, strict=True):
        assert dict(map(tuple, step["top"])) == pytest.approx(
            dict(zip(["<pad>", "b", "a"], row, strict=True)), abs=1e-6
        )


@pytest.mark.parametrize(("n_tokens", "positions"), [(1, "alibi"), (128, "alibi"), (1_024, "sinusoidal")])
def test_the_payload_is_bounded_whatever_the_length(n_tokens: int, positions: str) -> None:
    inputs = Inputs(
        model="untrained", text=words(n_tokens), n_layers=6, n_heads=12, d_model=96, positions=positions
    )
    body = build(subject_of(inputs), Opened())
    assert body.packed.size < 1_000_000


def test_a_header_survives_any_text() -> None:
    text = '<script>alert(1)</script> 🙂 שלום "quoted" \\ \u2028'
    subject = subject_of(Inputs(model="untrained", text=text))
    header, _ = unpack(build(subject, Opened()).packed.message(g=1))
    assert [token["text"] for token in header["tokens"]["encoder"]] == text.split()


def test_whoever_waits_hears_of_every_layer_and_may_end_it() -> None:
    subject = subject_of(Inputs("untrained", "the cat sat", n_layers=3))
    heard: list[tuple[int, int]] = []
    build(subject, Opened(), lambda done, of: heard.append((done, of)))
    assert heard == sorted(heard)
    assert set(heard) == {(0, 3), (1, 3), (2, 3), (3, 3)}

    def end(done: int, of: int) -> None:
        if done == 2:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        build(subject, Opened(), end)


PATTERN = np.array([[[0.5, 0.25, 0.25], [0.75, 0, 0.25], [1, 0, 0]], [[0.25, 0.25, 0.5]] * 3], np.float32)


def bert(tmp_path: Path, text: str) -> Subject:
    return subject_of(Inputs(model=f"hf:{families.save('bert', tmp_path)}", text=text))


def expected(pattern: np.ndarray, special: list[int], how: str) -> np.ndarray:
    """The same as `Hiding.shown`, a cell at a time, in double precision."""
    shown = np.zeros(pattern.shape)
    for head, query in np.ndindex(*pattern.shape[:2]):
        if query in special:
            continue
        kept = {key: float(w) for key, w in enumerate(pattern[head, query]) if key not in special}
        left = sum(kept.values())
        for key, weight in kept.items():
            shown[head, query, key] = weight / (left if how == "renormalised" and left else 1.0)
    return shown


def test_hidden_tokens_get_nothing_and_a_row_that_has_nothing_left_stays_zero() -> None:
    hiding = Hiding(queries=(), keys=(0,))
    np.testing.assert_array_equal(
        hiding.apply(PATTERN, "hidden")[0], [[0, 0.25, 0.25], [0, 0, 0.25], [0, 0, 0]]
    )
    renormalised = hiding.apply(PATTERN, "renormalised")
    np.testing.assert_array_equal(renormalised[0], [[0, 0.5, 0.5], [0, 0, 1], [0, 0, 0]])
    np.testing.assert_allclose(renormalised[1], [[0, 1 / 3, 2 / 3]] * 3, rtol=1e-7)
    np.testing.assert_array_equal(hiding.on_hidden(PATTERN)[0], [0.5, 0.75, 1])
    np.testing.assert_array_equal(hiding.rest(PATTERN)[0], [0.5, 0.25, 0])
    np.testing.assert_array_equal(Hiding((2,), (0,)).mean_hidden(PATTERN), [0.625, 0.25])
    assert hiding.apply(PATTERN, "shown") is PATTERN
    assert PATTERN[0, 0, 0] == 0.5  # the trace's own numbers stay


def test_special_tokens_are_found_a_word_that_is_asked_about_is_none(tmp_path: Path) -> None:
    subject = bert(tmp_path, "the cat [MASK] the dog")
    names = [token["text"] for token in subject.tokens["encoder"]]
    assert [names[at] for at in special_positions(subject)["encoder"]] == ["[CLS]", "[SEP]"]
    (stack,) = subject.stacks
    assert hiding_of(subject, stack) == Hiding((0, len(names) - 1), (0, len(names) - 1))
    words = subject_of(Inputs(model="untrained", text="a b"))
    assert special_positions(words) == {"encoder": []}
    alone = subject_of(Inputs(model="untrained", text="<eos> <eos>"))
    assert special_positions(alone) == {"encoder": []}  # nothing would be left


@pytest.mark.parametrize("how", ["hidden", "renormalised"])
def test_the_browser_gets_thumbnails_without_them_and_each_row_s_weight_on_them(
    tmp_path: Path, how: str
) -> None:
    subject = bert(tmp_path, "the cat saw the dog")
    trace, (stack,) = subject.run(None), subject.stacks
    special = special_positions(subject)["encoder"]
    header, blocks = unpack(build(subject, Opened(special=how)).packed.message(g=1))
    assert (header["special"], header["specialTokens"]) == ({"encoder": special}, how)
    sent = header["stacks"][0]
    thumbs = array_of(sent["thumbs"], blocks).reshape(stack.n_layers, stack.n_heads, stack.n_query, -1)
    means = []
    for block in header["exact"]:
        pattern = trace[f"encoder.{block['layer']}.self.pattern"].double().numpy()
        np.testing.assert_allclose(thumbs[block["layer"]], 255 * expected(pattern, special, how), atol=0.51)
        arrays = exact_arrays(block, blocks)
        np.testing.assert_array_equal(arrays["pattern"], pattern.astype(np.float32))  # whole, always
        for head, query in np.ndindex(pattern.shape[:2]):
            on = sum(pattern[head, query, key] for key in special)
            assert arrays["hidden"][head, query] == pytest.approx(on, abs=1e-6)
            assert arrays["left"][head, query] == pytest.approx(pattern[head, query].sum() - on, abs=1e-6)
        rows = [at for at in range(stack.n_query) if at not in special]
        means += [np.mean([sum(of[row, key] for key in special) for row in rows]) for of in pattern]
    assert sent["hidden"] == pytest.approx(means, abs=6e-5)


@pytest.mark.parametrize("how", ["hidden", "renormalised"])
def test_of_a_long_text_the_thumbnails_are_made_of_what_is_left(how: str) -> None:
    words = " ".join(["[CLS]", *(f"w{at}" for at in range(298)), "[SEP]"])
    inputs = Inputs(model="untrained", text=words, n_layers=1, n_heads=8)
    subject = subject_of(inputs)
    header, blocks = unpack(build(subject, Opened(special=how, head=5, q0=150)).packed.message(g=1))
    pattern = subject.run(None)["encoder.0.self.pattern"].numpy()
    shown = np.stack([expected(head[None], [0, 299], how)[0] for head in pattern[:2]])
    (block,) = header["exact"]
    assert block["heads"] == [5]
    coarse = array_of(block["coarse"], blocks)
    np.testing.assert_allclose(coarse[:2], 255 * shown[:, 150:278, :128], atol=0.51)
    arrays = exact_arrays(block, blocks)
    np.testing.assert_allclose(arrays["left"][0], pattern[5, 150:278, 1:299].sum(-1), atol=1e-6)
    thumbs = array_of(header["stacks"][0]["thumbs"], blocks).reshape(8, 128, 128)
    whole, _ = unpack(build(subject, Opened(head=5)).packed.message(g=1))
    assert whole["specialTokens"] == "shown"
    edges = [at * 300 // 128 for at in range(129)]
    bins = [slice(start, end) for start, end in pairwise(edges)]
    largest = [[shown[0][rows, columns].max() for columns in bins] for rows in bins]
    np.testing.assert_allclose(thumbs[0], 255 * np.array(largest), atol=0.51)


def test_a_link_that_hides_what_a_text_does_not_have_is_said() -> None:
    opened = linked(model="untrained", text="a b c", special="hidden")
    assert opened["problems"] == [
        "The link's special=hidden is not meant for a text without special tokens; its default is shown."
    ]
    assert opened["linked"] == {}


WORDS = Inputs(model="untrained", text="[CLS] the cat sat [SEP]", n_layers=2, n_heads=2, seed=4)


@pytest.mark.parametrize("how", ["hidden", "renormalised"])
@pytest.mark.parametrize("view", ["grid", "head", "lines"])
def test_the_figure_to_take_away_leaves_them_out_and_says_so(view: str, how: str) -> None:
    shown = StageView(WORDS, {"view": view, "layer": 1, "head": 1, "heads": [1], "special": how})
    figure = shown.figure(dark=False)
    said = ", special tokens hidden" + (", rows renormalised" if how == "renormalised" else "")
    assert said in figure.layout.title.text
    pattern = subject_of(WORDS).run(None)["encoder.1.self.pattern"].numpy()
    kept = expected(pattern, [0, 4], how)[1, 1:4, 1:4]
    if view == "head":
        np.testing.assert_allclose(figure.data[0].customdata[..., 0], kept, atol=1e-6)
    assert "CLS" not in figure.to_json()


@pytest.mark.parametrize("how", ["hidden", "renormalised"])
def test_the_lines_of_python_give_what_is_shown(how: str) -> None:
    code = StageView(WORDS, {"view": "head", "layer": 1, "head": 1, "special": how}).code
    names: dict[str, Any] = {}
    exec(code, names)
    pattern = subject_of(WORDS).run(None)["encoder.1.self.pattern"].numpy()
    np.testing.assert_allclose(names["pattern"], expected(pattern, [0, 4], how)[1, 1:4, 1:4], atol=1e-6)
    assert "queries" not in StageView(WORDS, {"view": "map", "special": how}).code
