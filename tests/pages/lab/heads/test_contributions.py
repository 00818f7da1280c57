"""What the heads write adds up to the output; shares are what they say."""

import math
import re
from functools import partial
from typing import Any

import pytest
import torch

from attention_lab.models import ModelConfig, Transformer, load_model
from attention_lab.pages.lab.heads import contributions, inputs
from attention_lab.pages.lab.heads.cut import blocks
from attention_lab.pages.lab.heads.inputs import Reading
from tests.models.interventions.conftest import Letters
from tests.pages.lab.boards import close, panel
from tests.pages.lab.heads.conftest import engine

Inputs = partial(inputs.Inputs, model="random")


def written_by(reading: Reading) -> torch.Tensor:
    return contributions.contributions(reading.z, blocks(reading.attention).w_o)


def test_the_output_is_the_sum_over_heads_and_the_bias(reading: Reading):
    out = contributions.add_up(written_by(reading), reading.attention.out_proj.bias)
    torch.testing.assert_close(out, reading.out, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    "fields", [{"head_gate": "head"}, {"exclusive": True}, {"differential": True}], ids=str
)
def test_heads_that_something_changes_still_add_up(fields: dict[str, Any]):
    sizes = {"n_layers": 2, "n_heads": 4, "d_model": 16, "vocab_size": 11, "max_len": 12, "pad_id": 0}
    model = Letters("letters", Transformer(ModelConfig(kind="decoder-only", **sizes, **fields), seed=1))
    own = contributions.of_model(model, model.read("abcabd"), "decoder.self", 1)
    written = contributions.contributions(own.z, own.w_o)
    torch.testing.assert_close(contributions.add_up(written, own.bias), own.out, rtol=1e-4, atol=1e-5)


def test_a_contribution_adds_up_kobayashis_keys(reading: Reading):
    """Sum over keys of weight * f(key), f(x) = (x W_V + b_V) W_O, in float64 loops over keys."""
    layer, head, d_head = reading.attention, 1, reading.config.head_size
    mine = slice(head * d_head, (head + 1) * d_head)
    x, pattern = reading.x.double(), reading.pattern[head].double()
    value = x @ layer.v_proj.weight.detach().double()[mine].T
    if layer.v_proj.bias is not None:
        value = value + layer.v_proj.bias.detach().double()[mine]
    transformed = value @ layer.out_proj.weight.detach().double()[:, mine].T  # f(x), [key, d_model]
    expected = sum(pattern[3, key] * transformed[key] for key in range(len(reading.tokens)))
    torch.testing.assert_close(written_by(reading)[head, 3].double(), expected, rtol=1e-4, atol=1e-5)


def test_shares_by_hand():
    """Heads write (3, 0) and (0, 4): lengths 3 and 4, sum (3, 4) of length 5."""
    written = torch.tensor([[[3.0, 0.0]], [[0.0, 4.0]]])
    assert contributions.norms(written).flatten().tolist() == [3, 4]
    assert contributions.length_share(written).flatten().tolist() == pytest.approx([3 / 7, 4 / 7])
    assert contributions.signed_share(written).flatten().tolist() == pytest.approx([9 / 25, 16 / 25])
    assert contributions.agreement(written).item() == pytest.approx(5 / 7)


def test_where_nothing_is_written_every_share_is_zero():
    silent = torch.zeros(2, 1, 3)
    for measure in (contributions.length_share, contributions.signed_share, contributions.agreement):
        assert not math.isnan(measure(silent).sum().item())
        assert (measure(silent) == 0).all()


VECTORS = "c at this token: what each head writes, their sum, and the output"


def written(layer, z: torch.Tensor) -> torch.Tensor:
    """Each head through the output projection, the others silent, without bias: [head, query, d_model]."""
    alone = torch.zeros(len(z), *z.shape)
    for head in range(len(z)):
        alone[head, head] = z[head]
    with torch.no_grad():
        return alone.transpose(1, 2).flatten(2) @ layer.out_proj.weight.T


def test_vectors_add_up_to_the_output(translated):
    layer = load_model("translator").model.encoder.layers[1].self_attention
    expected = written(layer, translated["encoder.1.self.z"])
    rows = torch.as_tensor(panel(contributions.lesson(Inputs(model="layer1")).board, VECTORS).values)
    close(rows[:, :4], expected.transpose(0, 1))
    close(rows[:, 4], expected.sum(0))
    close(rows[:, 5], layer.out_proj.bias.detach().expand(len(rows), -1))
    close(rows[:, 6], translated["encoder.1.self.out"])


def test_shares_of_length_and_of_the_sum():
    model, trace = engine()
    c = written(model.model.encoder.layers[0].self_attention, trace["encoder.0.self.z"])
    board = contributions.lesson(Inputs()).board
    lengths, total = c.norm(dim=-1), c.sum(0)
    close(panel(board, "share of the lengths").values, (lengths / lengths.sum(0)).T)
    close(panel(board, "share of the sum").values, ((c * total).sum(-1) / total.square().sum(-1)).T)


def test_the_notice_names_the_loudest_head_at_each_token():
    model, trace = engine()
    lengths = written(model.model.encoder.layers[0].self_attention, trace["encoder.0.self.z"]).norm(dim=-1)
    for at, notice in enumerate(contributions.lesson(Inputs()).board.notice):
        head, share = re.search(r"head \*\*(\d)\*\* .*?\*\*([\d.]+)\*\* of all lengths", notice).groups()
        assert int(head) == int(lengths[:, at].argmax())
        digits = len(share) - 2
        shares = (lengths[:, at] / lengths[:, at].sum()).sort(descending=True).values
        said = [[f"{each:.{n}f}" for each in shares[:2]] for n in (digits, digits - 1)]
        assert share == said[0][0] != said[0][1] and (digits == 2 or said[1][0] == said[1][1])


def test_one_head_alone_is_the_whole_sum():
    assert all("**1.00** of the sum" in n for n in contributions.lesson(Inputs(n_heads=1)).board.notice)


def test_the_longest_is_told_from_the_next_with_as_many_digits_as_it_takes():
    shares = torch.tensor([0.5, 0.3, 0.2])
    near = contributions.longest("it", torch.tensor([0.3341, 0.3338, 0.3321]), shares)
    assert "head **0** writes the longest vector: **0.3341** of all lengths, the next 0.3338, and" in near
    far = contributions.longest("it", torch.tensor([0.2, 0.5, 0.3]), shares)
    assert far.endswith(
        "head **1** writes the longest vector: **0.50** of all lengths, and **0.30** of the sum."
    )
