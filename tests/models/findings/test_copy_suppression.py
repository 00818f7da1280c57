"""Copy suppression: both numbers of every head, read again from the modules of a small random GPT-2."""

import random
from pathlib import Path

import pytest
import torch
import transformers
from torch import Tensor

from attention_lab.models import load_model
from attention_lab.models.findings import findings
from attention_lab.models.findings.copy_suppression import alone, effects, suppressed
from attention_lab.models.findings.sources import longest
from attention_lab.models.zoo.model import Model
from tests.models.zoo.hub.families import save

FINDING = findings()["copy-suppression"]
IDS = [40, 77, 12, 200, 5]
N_HEADS, D_HEAD = 4, 8


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save("gpt2", tmp_path_factory.mktemp("gpt2"), n_layer=3)


@pytest.fixture(scope="module")
def model(folder: Path) -> Model:
    return load_model(f"hf:{folder}")


def frozen_at(model: Model, final: Tensor) -> tuple[Tensor, Tensor]:
    """The matrix and the constant that make the logits of one position, its norm's scale frozen."""
    norm, words = model.net.transformer.ln_f, model.net.lm_head.weight.detach().T
    matrix = words * norm.weight.detach()[:, None] / (final.var(correction=0) + norm.eps).sqrt()
    return matrix - matrix.mean(dim=0), norm.bias.detach() @ words


def own_logits_rank(folder: Path, layer: int) -> Tensor:
    """[head, token]: how many logits each head lowers more than the token's own, by the modules."""
    net = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
    blocks, ids = net.transformer.h, torch.tensor(IDS)
    stream = net.transformer.wte(ids) + net.transformer.wpe(torch.arange(len(IDS)))
    if layer:
        first = blocks[0]
        values = first.attn.c_attn(first.ln_1(stream))[:, -N_HEADS * D_HEAD :]
        stream = stream + first.attn.c_proj(values)  # every token looks at itself alone
        stream = stream + first.mlp(first.ln_2(stream))
    values = blocks[layer].attn.c_attn(blocks[layer].ln_1(stream))[:, -N_HEADS * D_HEAD :]
    ranks = []
    for head in range(N_HEADS):
        rows = slice(head * D_HEAD, (head + 1) * D_HEAD)
        part = values[:, rows] @ blocks[layer].attn.c_proj.weight[rows]
        logits = (
            (part - part.mean(dim=1, keepdim=True)) * net.transformer.ln_f.weight
        ) @ net.lm_head.weight.T
        ranks.append((logits < logits[torch.arange(len(IDS)), ids][:, None]).sum(dim=1))
    return torch.stack(ranks)


@pytest.mark.parametrize("layer", [0, 2])
def test_a_head_lowers_what_its_modules_lower(folder: Path, model: Model, layer: int) -> None:
    own = model.unembedding()
    parts = own.normed(alone(model, IDS, layer))
    ranks = own_logits_rank(folder, layer)
    for lowest in (1, 50, 150):
        found = suppressed(parts, own.words, torch.tensor(IDS), lowest)
        assert found.tolist() == (ranks < lowest).tolist()
    assert 0 < int((ranks < 150).sum()) < ranks.numel()


def test_effects_of_the_last_layer_are_what_taking_them_out_does(model: Model) -> None:
    """With every token due, the sum over the keys of one query is the head's own direct effect on them."""
    reading = longest(model, 16)
    sums, pairs = effects(model, reading, 10**6)
    n = len(reading.tokens["decoder"])
    assert pairs.tolist() == [n * (n + 1) // 2] * 3
    trace, ids = model.trace(reading), reading.inputs[0][0]
    whole = torch.zeros(3, N_HEADS, dtype=torch.float64)
    for at in range(n):
        words, _ = frozen_at(model, trace["decoder.2.resid_post"][at])
        words = words - words.mean(dim=1, keepdim=True)
        for layer in range(3):
            w_o = model.projection("decoder.self", layer)
            for head in range(N_HEADS):
                for key in range(at + 1):
                    part = trace[f"decoder.{layer}.self.v"][head, key] @ w_o[head]
                    weight = trace[f"decoder.{layer}.self.pattern"][head, at, key]
                    whole[layer, head] += weight * (part @ words[:, ids[key]])
    torch.testing.assert_close(sums, whole, atol=2e-3, rtol=2e-3)


def test_only_tokens_that_are_due_count(model: Model) -> None:
    reading = longest(model, 16)
    _, few = effects(model, reading, 5)
    trace, ids = model.trace(reading), reading.inputs[0][0].tolist()
    stream, final = trace["decoder.1.resid_pre"], trace["decoder.2.resid_post"]
    due = 0
    for at in range(len(ids)):
        words, constant = frozen_at(model, final[at])
        best = (stream[at] @ words + constant).topk(5).indices.tolist()
        due += sum(token in best for token in ids[: at + 1])
    assert int(few[1]) == due


def test_the_outcome_names_the_head_that_lowers_most(folder: Path, model: Model) -> None:
    found = FINDING.measured(model, tokens=8, texts=1, lowest=50)
    drawn = random.Random(0).sample(list(model.made_of().own), 8)
    own = model.unembedding()
    shares = {
        f"L{layer} H{head}": float(row.double().mean())
        for layer in range(3)
        for head, row in enumerate(
            suppressed(own.normed(alone(model, drawn, layer)), own.words, torch.tensor(drawn), 50)
        )
    }
    assert found.numbers[0].value == max(shares.values())
    assert shares[found.charts[0].x[0]] == max(shares.values())
    assert dict(zip(found.charts[0].x, found.charts[0].series["share"], strict=True)) == pytest.approx(shares)


def test_a_model_that_reads_both_ways_is_refused() -> None:
    with pytest.raises(ValueError, match="'masked' does not read from left to right; choose GPT-2"):
        FINDING.measured(load_model("masked"))
