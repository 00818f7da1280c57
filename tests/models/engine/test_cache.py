"""The key-value cache: same logits token by token, and nothing computed twice."""

from collections.abc import Callable

import pytest
import torch

from models import Transformer
from models.config import POSITION_SCHEMES
from models.engine.cache import DecoderCache, KeyValueCache

Make = Callable[..., Transformer]
SOURCE, TARGET = torch.tensor([[3, 1, 4, 0], [5, 9, 2, 6]]), torch.tensor([[1, 2, 0, 5, 6], [7, 8, 9, 1, 2]])


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("parts", [[1, 1, 1, 1, 1], [3, 2], [2, 3], [5], [1, 3, 1]])
@pytest.mark.parametrize("positions", POSITION_SCHEMES)
def test_logits_in_parts_equal_logits_at_once(
    make: Make, kind: str, norm: str, positions: str, parts: list[int]
):
    """Padding among the tokens read, and several new ones at a time, included."""
    model = make(kind, norm=norm, positions=positions)
    given = (model.encode(SOURCE), SOURCE) if kind == "encoder-decoder" else ()
    cache = model.new_cache()
    in_parts = torch.cat(
        [model.decode(new, *given, cache=cache) for new in TARGET.split(parts, dim=1)], dim=1
    )
    torch.testing.assert_close(in_parts, model.decode(TARGET, *given), rtol=0, atol=1e-12)
    assert cache.length == 5


@pytest.mark.parametrize("kind", ["decoder-only", "encoder-decoder"])
@pytest.mark.parametrize(
    "fields",
    [{"norm": "none"}, {"residual": False}, {"feed_forward": False}, {"norm": "none", "residual": False}],
    ids=str,
)
def test_layers_with_parts_left_out_too(make: Make, kind: str, fields: dict):
    model = make(kind, **fields)
    given = (model.encode(SOURCE), SOURCE) if kind == "encoder-decoder" else ()
    cache = model.new_cache()
    in_parts = [model.decode(new, *given, cache=cache) for new in TARGET.split([2, 1, 2], dim=1)]
    whole = model.decode(TARGET, *given)
    torch.testing.assert_close(torch.cat(in_parts, dim=1), whole, rtol=0, atol=1e-12)


def test_self_attention_projects_new_tokens_and_cross_attention_projects_once(make: Make):
    model = make("encoder-decoder")
    seen: dict[str, list[int]] = {"self_attention": [], "cross_attention": []}
    for name, lengths in seen.items():
        for projection in ("k_proj", "v_proj"):
            linear = getattr(getattr(model.decoder.layers[1], name), projection)
            linear.register_forward_hook(
                lambda _, args, __, lengths=lengths: lengths.append(args[0].shape[1])
            )
    memory, cache = model.encode(SOURCE), model.new_cache()
    for new in TARGET.split([2, 1, 1, 1], dim=1):
        model.decode(new, memory, SOURCE, cache=cache)
    assert seen == {"self_attention": [2, 2, 1, 1, 1, 1, 1, 1], "cross_attention": [4, 4]}


def test_selected_rows_go_on_as_if_they_had_been_alone(make: Make):
    model, memory = make("encoder-decoder"), None
    memory, cache, rows = model.encode(SOURCE), model.new_cache(), torch.tensor([1, 1, 0])
    model.decode(TARGET[:, :4], memory, SOURCE, cache=cache)
    cache.select(rows)
    logits = model.decode(TARGET[rows, 4:], memory[rows], SOURCE[rows], cache=cache)
    whole = model.decode(TARGET, memory, SOURCE)
    torch.testing.assert_close(logits[:, 0], whole[rows, -1], rtol=0, atol=1e-12)


def test_past_max_len_is_refused(make: Make):
    model = make("decoder-only", max_len=5)
    cache = model.new_cache()
    model.decode(TARGET, cache=cache)
    with pytest.raises(ValueError) as error:
        model.decode(TARGET[:, :1], cache=cache)
    assert str(error.value) == "6 tokens do not fit max_len=5; cut the sequence, or raise max_len"


def test_forgetting_counts_as_read_and_leaves_cross_attention_alone(make: Make):
    model = make("encoder-decoder")
    memory, cache = model.encode(SOURCE), model.new_cache()
    model.decode(TARGET[:, :3], memory, SOURCE, cache=cache)
    before = cache.layers[0][0].keys
    for n, kept in [(7, 3), (2, 2), (0, 0)]:
        cache.keep_last(n)
        own, cross = cache.layers[0]
        assert torch.equal(own.keys, before[:, :, 3 - kept :])
        assert own.values.shape == own.keys.shape
        assert torch.equal(cache.tokens, TARGET[:, 3 - kept : 3])
        assert cross.keys.shape[2] == 4
        assert cache.length == 3
    with pytest.raises(ValueError) as error:
        cache.keep_last(-1)
    assert str(error.value) == "n=-1 positions cannot be kept; give 0, to forget all, or more"


def test_an_empty_cache_may_be_asked_anything():
    cache = DecoderCache(2)
    cache.select(torch.tensor([0]))
    cache.keep_last(1)
    assert cache.length == 0
    assert KeyValueCache(grows=False).fixed() is None
