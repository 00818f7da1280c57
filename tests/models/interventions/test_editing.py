"""Edits in a pass: each against hooks on the model's own modules, or against the arithmetic by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from attention_lab.models import load_model
from attention_lab.models.data.word_tokenizer import BOS, EOS
from tests.models.interventions.conftest import LETTERS, Letters
from tests.models.interventions.plain import kept, on_input, on_output, z_of
from tests.models.kinds import KINDS

Make = Callable[..., Letters]
TEXT, OTHER = "abcabd", "fbgabc"
EXACT = {"rtol": 1e-10, "atol": 1e-12}


def attention(lm: Letters, stack: str, layer: int) -> Any:
    side, kind = stack.split(".")
    return lm.model.get_submodule(f"{side}.layers.{layer}.{kind}_attention")


def ids(text: str) -> Tensor:
    return torch.tensor([[LETTERS.index(letter) for letter in text]])


def inputs(lm: Letters, text: str) -> tuple[Tensor, ...]:
    return lm.read(text).inputs


@pytest.mark.parametrize("kind", KINDS)
def test_a_patch_from_the_text_itself_and_a_factor_of_one_change_no_bit(letters: Make, kind: str) -> None:
    lm = letters(kind)
    plain, side = lm.trace(TEXT), lm.config.stacks[-1]
    parts = ("self.q", "self.k", "self.v", "self.pattern", "self", "self.out", "ff", "resid_post")
    edits = [f"{side}.0.{part}: {change}" for part in parts for change in (f'from "{TEXT}"', "scale 1")]
    same = lm.trace(TEXT, edits=edits)
    assert list(same) == list(plain)
    assert all(torch.equal(same[address], plain[address]) for address in plain)
    assert lm.trace(TEXT, edits=[])["logits"].equal(plain["logits"])


def constant(value: Tensor) -> Callable[[Tensor], Tensor]:
    return lambda z: value.expand_as(z)


def mean_over(z: Tensor) -> Tensor:
    return z.mean(dim=1, keepdim=True).expand_as(z)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("change", "by_hand"),
    [
        ("zero", torch.zeros_like),
        ("mean", mean_over),
        ("scale -2.5", lambda z: -2.5 * z),
        (f'from "{OTHER}"', None),
        (f'mean of "{OTHER}" "jj"', None),
    ],
)
def test_heads_are_edited_as_plain_hooks_do_it(
    letters: Make, kind: str, change: str, by_hand: Callable[[Tensor], Tensor] | None
) -> None:
    lm = letters(kind)
    for stack in lm.stacks(lm.config.stacks):
        side, name = stack.split(".")
        out = attention(lm, stack, 0).out_proj
        other = kept(lm.model, out, *inputs(lm, OTHER))[..., :4]
        short = kept(lm.model, out, *inputs(lm, "jj"))[..., :4]
        means = {
            f'from "{OTHER}"': other,
            f'mean of "{OTHER}" "jj"': torch.cat([other, short], dim=1).mean(dim=1, keepdim=True),
        }
        instead = by_hand or constant(means[change])
        with on_input(out, z_of(0, 4, instead)), torch.no_grad():
            expected = lm.model(*inputs(lm, TEXT))[0]
        edited = lm.trace(TEXT, edits=[f"{side}.0.{name} heads 0: {change}"])
        torch.testing.assert_close(edited["logits"], expected, **EXACT)


@pytest.mark.parametrize("kind", KINDS)
def test_sublayers_positions_and_layers_are_edited_as_plain_hooks_do_it(letters: Make, kind: str) -> None:
    lm = letters(kind)
    side = lm.config.stacks[-1]
    layer: Any = lm.model.get_submodule(f"{side}.layers.1")
    cases: list[tuple[str, Any, Callable[[Tensor], Tensor]]] = [
        (f"{side}.1.ff: zero", layer.feed_forward, torch.zeros_like),
        (f"{side}.1.self.out: zero", layer.self_attention, torch.zeros_like),
        (f"{side}.1.ff at 1-2: scale 3", layer.feed_forward, scaled_at_1_and_2),
    ]
    for line, module, change in cases:
        with on_output(module, change), torch.no_grad():
            expected = lm.model(*inputs(lm, TEXT))[0]
        torch.testing.assert_close(lm.trace(TEXT, edits=[line])["logits"], expected, **EXACT)
    entered: list[Tensor] = []
    watch = on_input(layer, lambda x: (entered.append(x), x)[1])
    with watch, on_output(layer, lambda _: entered[0]), torch.no_grad():
        expected = lm.model(*inputs(lm, TEXT))[0]
    edited = lm.trace(TEXT, edits=[f"{side}.1: off"])
    torch.testing.assert_close(edited["logits"], expected, **EXACT)
    assert edited[f"{side}.1.resid_post"].equal(edited[f"{side}.1.resid_pre"])


def scaled_at_1_and_2(x: Tensor) -> Tensor:
    made = x.clone()
    made[:, 1:3] *= 3
    return made


def test_a_patch_at_positions_takes_these_alone_and_of_a_text_of_any_length_that_has_them(
    letters: Make,
) -> None:
    lm = letters("encoder-only")
    other, plain = lm.trace("fbgab"), lm.trace(TEXT)
    edited = lm.trace(TEXT, edits=['encoder.0.self.k heads 1 at 2-3: from "fbgab"'])
    expected = plain["encoder.0.self.k"].clone()
    expected[1, 2:4] = other["encoder.0.self.k"][1, 2:4]
    assert edited["encoder.0.self.k"].equal(expected)
    stream = lm.trace(TEXT, edits=['encoder.1.resid_pre at 4: from "fbgab"'])
    assert stream["encoder.1.resid_pre"][4].equal(other["encoder.1.resid_pre"][4])
    assert stream["encoder.1.resid_pre"][3].equal(plain["encoder.1.resid_pre"][3])


PATTERNS: dict[str, tuple[str, dict[int, list[float]]]] = {
    "at 3: only 1": ("decoder", {3: [0, 1, 0, 0, 0, 0]}),
    "at 3: only 1,2": ("decoder", {3: [0, 0.5, 0.5, 0, 0, 0]}),
    "at 2: uniform": ("decoder", {2: [1 / 3, 1 / 3, 1 / 3, 0, 0, 0]}),
    "at 2: identity": ("decoder", {2: [0, 0, 1, 0, 0, 0]}),
    "at 5: uniform": ("encoder", {5: [1 / 6] * 6}),
    "at 1: set 0=0.25 1=0.5": ("decoder", {1: [0.25, 0.5, 0, 0, 0, 0]}),
    "at 0: set 0=0.25 renormalised": ("decoder", {0: [0.25, 0, 0, 0, 0, 0]}),
}


@pytest.mark.parametrize(("line", "expected"), PATTERNS.items())
def test_rows_of_a_pattern_are_set_by_hand(
    letters: Make, line: str, expected: tuple[str, dict[int, list[float]]]
) -> None:
    side, rows = expected
    lm = letters(f"{side}-only")
    plain = lm.trace(TEXT)[f"{side}.1.self.pattern"]
    edited = lm.trace(TEXT, edits=[f"{side}.1.self.pattern heads 1 {line}"])
    wanted = plain.clone()
    for row, weights in rows.items():
        wanted[1, row] = torch.tensor(weights, dtype=torch.float64)
    torch.testing.assert_close(edited[f"{side}.1.self.pattern"], wanted, **EXACT)
    z = wanted @ edited[f"{side}.1.self.v"]
    torch.testing.assert_close(edited[f"{side}.1.self.z"], z, **EXACT)


@pytest.mark.parametrize("renormalised", [True, False])
def test_the_rest_of_a_row_shares_what_is_left_as_before_or_stays(letters: Make, renormalised: bool) -> None:
    lm = letters("encoder-only")
    row = lm.trace(TEXT)["encoder.0.self.pattern"][0, 4].tolist()
    words = "renormalised" if renormalised else ""
    edited = lm.trace(TEXT, edits=[f"encoder.0.self.pattern heads 0 at 4: set 2=0.7 {words}"])
    rest = sum(weight for key, weight in enumerate(row) if key != 2)
    factor = 0.3 / rest if renormalised else 1
    expected = [0.7 if key == 2 else weight * factor for key, weight in enumerate(row)]
    assert edited["encoder.0.self.pattern"][0, 4].tolist() == pytest.approx(expected, abs=1e-12)
    if renormalised:
        assert sum(expected) == pytest.approx(1)


def test_what_is_left_beside_nothing_is_shared_alike(letters: Make) -> None:
    lm = letters("encoder-only")
    edits = ["encoder.0.self.pattern at 4: only 2", "encoder.0.self.pattern at 4: set 2=0.5 renormalised"]
    row = lm.trace(TEXT, edits=edits)["encoder.0.self.pattern"][1, 4]
    assert row.tolist() == pytest.approx([0.1, 0.1, 0.5, 0.1, 0.1, 0.1])


def test_rows_that_may_not_look_there_stay_where_all_are_meant(letters: Make) -> None:
    lm = letters("decoder-only")
    plain = lm.trace(TEXT)["decoder.0.self.pattern"]
    edited = lm.trace(TEXT, edits=["decoder.0.self.pattern: only 3"])["decoder.0.self.pattern"]
    assert edited[:, :3].equal(plain[:, :3])
    assert (edited[:, 3:, 3] == 1).all() and (edited[:, 3:].sum(-1) == 1).all()


def test_edits_follow_each_other_and_an_edit_of_one_s_own(letters: Make) -> None:
    lm = letters("encoder-only")
    z = lm.trace(TEXT)["encoder.0.self.z"]
    edited = lm.trace(
        TEXT,
        edits="encoder.0.self heads 1: scale 2\nencoder.0.self: scale 3",
        edit=lambda address, value: value + 1 if address == "encoder.0.self.z" else value,
    )
    factor = torch.tensor([3.0, 6.0]).double()[:, None, None]
    torch.testing.assert_close(edited["encoder.0.self.z"], z * factor + 1, **EXACT)


def test_a_text_that_many_edits_name_is_read_and_traced_once(
    letters: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    lm = letters("decoder-only")
    traced, read = [], []
    compute, reads = type(lm).compute, type(lm).read
    monkeypatch.setattr(
        type(lm), "compute", lambda self, *given: (traced.append(1), compute(self, *given))[1]
    )
    monkeypatch.setattr(
        type(lm), "read", lambda self, text, **said: (read.append(text), reads(self, text, **said))[1]
    )
    places = ["decoder.0.self heads 0", "decoder.0.ff", "decoder.1.self.q heads 1", "decoder.1.self.pattern"]
    lines = [f'{place}: from "{OTHER}"' for place in places]
    edited = lm.trace(TEXT, edits=lines)
    assert (read, len(traced)) == ([TEXT, OTHER], 2)
    other = lm.trace(OTHER)
    torch.testing.assert_close(edited["decoder.0.ff.out"], other["decoder.0.ff.out"], **EXACT)
    torch.testing.assert_close(edited["decoder.1.self.q"][1], other["decoder.1.self.q"][1], **EXACT)
    torch.testing.assert_close(edited["decoder.1.self.pattern"], other["decoder.1.self.pattern"], **EXACT)


SENTENCE = "the animal did not cross the street because it was too tired"
LINE = "decoder.1.cross heads 0-3: scale -1"


@pytest.fixture(scope="module")
def translator() -> Any:
    return load_model("translator")


def test_without_edits_it_is_the_model_s_own_answer(translator: Any) -> None:
    reading = translator.read(SENTENCE)
    found = translator.answer(reading)
    assert found.answer == reading.answer and found.following == reading.following == "<eos>"
    assert found.tokens == reading.tokens and found.inputs[1].equal(reading.inputs[1])
    padded = translator.read(SENTENCE, padding=3, target="il dort")
    assert translator.answer(padded).answer == reading.answer and not translator.answer(padded).forced


@torch.no_grad()
def test_a_translation_is_written_under_edits_of_encoder_and_decoder(translator: Any) -> None:
    net = translator.model
    source = translator.read(SENTENCE).inputs[0]
    out = net.decoder.layers[1].cross_attention.out_proj
    first = net.encoder.layers[0].self_attention.out_proj
    written = [BOS]
    d_head = translator.config.head_size
    with on_input(out, lambda z: -z), on_input(first, z_of(2, d_head, torch.zeros_like)):
        while written[-1] != EOS and len(written) < 2 * source.shape[1] + 9:
            written.append(int(net(source, torch.tensor([written]))[0, -1].argmax()))
    lines = [LINE, "encoder.0.self heads 2: zero"]
    found = translator.answer(SENTENCE, edits=lines)
    kept = [at for at in written if at != EOS]
    assert found.inputs[1].tolist() == [kept]
    assert found.answer == translator.task.written(kept[1:]) != translator.read(SENTENCE).answer


def test_it_is_said_how_far_an_answer_is(translator: Any) -> None:
    shares: list[float] = []
    other = SENTENCE.replace("tired", "wide")
    found = translator.answer(SENTENCE, edits=[f'decoder.0.self: from "{other}"'], progress=shares.append)
    assert shares == sorted(shares) and shares[0] == 0 and len(shares) == found.inputs[1].shape[1]


def test_a_position_is_edited_as_soon_as_it_is_written(translator: Any) -> None:
    """The word after position 3 is written from an edited stream; those before are as they were."""
    own, found = (
        translator.read(SENTENCE),
        translator.answer(SENTENCE, edits=["decoder.1.resid_post at 3: scale -1"]),
    )
    before, after = own.inputs[1][0].tolist(), found.inputs[1][0].tolist()
    assert after[:4] == before[:4] and after[4] != before[4]


def test_a_model_of_letters_continues_its_text() -> None:
    lm = load_model("induction")
    found = lm.answer("abcdefabc")
    assert found.answer == lm.generate("abcdefabc", max_new_tokens=16, temperature=0)
    assert found.answer[:3] == "def" and found.tokens["decoder"][-1] == found.answer[-1]
    lines = ["decoder.1.self.pattern: identity", "decoder.0.self.pattern at 8: only 8"]
    blind = lm.answer("abcdefabc", edits=lines)
    assert blind.answer[:3] != "def" and len(blind.answer) == 16


def test_generate_writes_under_edits_as_step_by_step_tracing_does() -> None:
    lm, lines = load_model("induction"), ["decoder.1.self.pattern: identity", "decoder.0.self at 3: scale 2"]
    expected = "abcdefabc"
    for _ in range(6):
        logits = lm.trace(expected, edits=lines)["logits"]
        expected += lm.outputs[int(logits[-1].argmax())]
    how = {"max_new_tokens": 6, "edits": lines}
    assert lm.generate("abcdefabc", temperature=0, **how) == expected[9:]
    assert lm.generate("abcdefabc", temperature=1e-4, **how) == expected[9:]
    drawn = {lm.generate("abcdefabc", temperature=3.0, seed=seed, **how) for seed in (1, 1, 2)}
    assert len(drawn) == 2


def test_a_sum_is_written_after_its_sign() -> None:
    from attention_lab.models.config import ModelConfig
    from attention_lab.models.data.tasks import make_task
    from attention_lab.models.engine.transformer import Transformer
    from attention_lab.models.zoo.engine_model import TrainedModel

    task = make_task("reverse")
    config = ModelConfig(kind="decoder-only", n_layers=1, n_heads=2, d_model=16, **task.required_sizes())
    lm = TrainedModel("copier", task, Transformer(config, seed=0), {})
    reading = lm.read("cabd=")
    assert lm.answer(reading).answer == lm.answer("cabd").answer == reading.answer
    assert len(lm.answer("cabd", edits=["decoder.0: off"]).answer) == 4


@pytest.mark.parametrize("kind", ["encoder-only", "decoder-only"])
def test_what_writes_nothing_says_so(letters: Make, kind: str) -> None:
    with pytest.raises(ValueError) as error:
        letters(kind).answer("abc")
    assert str(error.value) == "'letters' writes nothing; look at the probabilities of its outputs"


def test_an_edit_that_does_not_fit_is_refused_before_anything_is_written(translator: Any) -> None:
    with pytest.raises(ValueError, match="head 4 is not there; give 0 to 3"):
        translator.answer(
            SENTENCE, edits=["decoder.0.self heads 4: zero"], progress=lambda share: pytest.fail()
        )
    full = load_model("induction")
    with pytest.raises(ValueError) as error:
        full.answer("ab" * (full.max_len // 2))
    assert str(error.value) == (
        f"the text fills all {full.max_len} tokens that this model reads; give a shorter one"
    )
