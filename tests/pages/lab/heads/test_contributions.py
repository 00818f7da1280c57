"""What each head adds, against the engine's own output projection."""

import re

import torch

from models import load_model
from pages.lab.heads import contributions
from pages.lab.heads.inputs import Inputs
from tests.pages.lab.heads.conftest import close, engine, panel

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
        assert share == f"{lengths[int(head), at] / lengths[:, at].sum():.2f}"


def test_one_head_alone_is_the_whole_sum():
    assert all("**1.00** of the sum" in n for n in contributions.lesson(Inputs(n_heads=1)).board.notice)


def test_questions(translated):
    layer = load_model("translator").model.encoder.layers[1].self_attention
    it = translated.tokens["encoder"].index("it")
    c = written(layer, translated["encoder.1.self.z"])[:, it]
    total = c.sum(0)
    most, order, length = contributions.questions()
    assert most.right == int((c @ total).argmax())
    assert order.options[order.right] == "not at all"
    assert length.options[length.right] == "shorter"
    assert length.because.startswith(f"{total.norm() / c.norm(dim=-1).sum():.2f} of that")
