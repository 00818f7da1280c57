"""What models write while they are edited: token by token as their own greedy writing, and by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from models import load_model
from models.data.word_tokenizer import BOS, EOS
from tests.models.interventions.conftest import Letters
from tests.models.interventions.plain import on_input, z_of

TEXT = "the animal did not cross the street because it was too tired"
LINE = "decoder.1.cross heads 0-3: scale -1"


@pytest.fixture(scope="module")
def translator() -> Any:
    return load_model("translator")


def test_without_edits_it_is_the_model_s_own_answer(translator: Any) -> None:
    reading = translator.read(TEXT)
    found = translator.answer(reading)
    assert found.answer == reading.answer and found.following == reading.following == "<eos>"
    assert found.tokens == reading.tokens and found.inputs[1].equal(reading.inputs[1])
    padded = translator.read(TEXT, padding=3, target="il dort")
    assert translator.answer(padded).answer == reading.answer and not translator.answer(padded).forced


@torch.no_grad()
def test_a_translation_is_written_under_edits_of_encoder_and_decoder(translator: Any) -> None:
    net = translator.model
    source = translator.read(TEXT).inputs[0]
    out = net.decoder.layers[1].cross_attention.out_proj
    first = net.encoder.layers[0].self_attention.out_proj
    written = [BOS]
    d_head = translator.config.head_size
    with on_input(out, lambda z: -z), on_input(first, z_of(2, d_head, torch.zeros_like)):
        while written[-1] != EOS and len(written) < 2 * source.shape[1] + 9:
            written.append(int(net(source, torch.tensor([written]))[0, -1].argmax()))
    lines = [LINE, "encoder.0.self heads 2: zero"]
    found = translator.answer(TEXT, edits=lines)
    kept = [at for at in written if at != EOS]
    assert found.inputs[1].tolist() == [kept]
    assert found.answer == translator.task.written(kept[1:]) != translator.read(TEXT).answer


def test_it_is_said_how_far_an_answer_is(translator: Any) -> None:
    shares: list[float] = []
    other = TEXT.replace("tired", "wide")
    found = translator.answer(TEXT, edits=[f'decoder.0.self: from "{other}"'], told=shares.append)
    assert shares == sorted(shares) and shares[0] == 0 and len(shares) == found.inputs[1].shape[1]


class StoppedError(Exception):
    pass


def test_who_is_told_may_stop_it(translator: Any) -> None:
    def stop(share: float) -> None:
        if share > 0:
            raise StoppedError

    with pytest.raises(StoppedError):
        translator.answer(TEXT, told=stop)


def test_a_patch_from_the_text_itself_leaves_what_is_written(translator: Any) -> None:
    own = translator.read(TEXT).answer
    edits = [f'decoder.1.{part}: from "{TEXT}"' for part in ("self", "cross", "cross.k", "resid_post")]
    assert translator.answer(TEXT, edits=edits).answer == own


def test_a_position_is_edited_as_soon_as_it_is_written(translator: Any) -> None:
    """The word after position 3 is written from an edited stream; those before are as they were."""
    own, found = translator.read(TEXT), translator.answer(TEXT, edits=["decoder.1.resid_post at 3: scale -1"])
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


def test_a_sum_is_written_after_its_sign() -> None:
    from models.config import ModelConfig
    from models.data.tasks import make_task
    from models.engine.transformer import Transformer
    from models.zoo.trained import TrainedModel

    task = make_task("copy")
    config = ModelConfig(kind="decoder-only", n_layers=1, n_heads=2, d_model=16, **task.dictates())
    lm = TrainedModel("copier", task, Transformer(config, seed=0), {})
    reading = lm.read("cabd=")
    assert lm.answer(reading).answer == lm.answer("cabd").answer == reading.answer
    assert len(lm.answer("cabd", edits=["decoder.0: off"]).answer) == 4


REFUSED = {
    "encoder-only": "'letters' writes nothing; look at the probabilities of its outputs",
    "decoder-only": "'letters' writes nothing; look at the probabilities of its outputs",
}


@pytest.mark.parametrize(("kind", "sentence"), REFUSED.items())
def test_what_writes_nothing_says_so(letters: Callable[..., Letters], kind: str, sentence: str) -> None:
    with pytest.raises(ValueError) as error:
        letters(kind).answer("abc")
    assert str(error.value) == sentence


def test_an_edit_that_does_not_fit_is_refused_before_anything_is_written(translator: Any) -> None:
    with pytest.raises(ValueError, match="head 4 is not there; give 0 to 3"):
        translator.answer(TEXT, edits=["decoder.0.self heads 4: zero"], told=lambda share: pytest.fail())
    full = load_model("induction")
    with pytest.raises(ValueError) as error:
        full.answer("ab" * (full.max_len // 2))
    assert str(error.value) == (
        f"the text has {full.max_len} tokens, as many as this model reads, so none can follow; give fewer"
    )
