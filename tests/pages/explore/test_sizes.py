"""Linked sizes: each value to which one of them can be turned makes a model."""

from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attention_lab.models.config import POSITION_SCHEMES, ModelConfig
from attention_lab.models.zoo.catalogue import offers
from attention_lab.pages.explore import sizes
from attention_lab.pages.explore.sizes import LINKED, Sizes, reachable, sizes_of, turned

USUAL = {setting.name: setting.default for setting in offers()["untrained"].settings}


def makes(values: dict[str, Any]) -> Sizes:
    """The sizes of the model that settings make."""
    config = ModelConfig(
        kind="encoder-only", vocab_size=5, max_len=8, n_layers=1, n_heads=values["n_heads"],
        d_model=values["d_model"], d_head=values["d_head"] or None, positions=values["positions"],
    )  # fmt: skip
    assert config.d_head is not None
    return Sizes(config.n_heads, config.d_model, config.d_head)


@pytest.mark.parametrize("positions", ["sinusoidal", "rotary"])
@pytest.mark.parametrize(("name", "keeps"), list(product(LINKED, LINKED)))
def test_each_value_that_is_offered_makes_a_model_and_keeps_what_is_fixed(
    name: str, keeps: str, positions: str
) -> None:
    values = USUAL | {"positions": positions}
    offered = reachable(values, name, keeps)
    assert len(offered) > 3 and sizes_of(values) in offered
    values_of = [each[LINKED.index(name)] for each in offered]
    assert values_of == sorted(set(values_of))
    fixed = keeps if keeps != name else "n_heads" if name != "n_heads" else "d_head"
    for size in offered:
        assert size.d_model == size.n_heads * size.d_head
        assert size[LINKED.index(fixed)] == sizes_of(values)[LINKED.index(fixed)]
        made, _ = turned(values, name, size[LINKED.index(name)], keeps)
        assert makes(made) == size


@given(
    heads=st.integers(1, 16), width=st.integers(1, 512), head=st.integers(0, 128),
    positions=st.sampled_from(POSITION_SCHEMES), name=st.sampled_from(LINKED), keeps=st.sampled_from(LINKED),
    value=st.integers() | st.integers(0, 600),
)  # fmt: skip
def test_a_turn_to_whatever_value_makes_a_model(
    heads: int, width: int, head: int, positions: str, name: str, keeps: str, value: int
) -> None:
    before = USUAL | {"n_heads": heads, "d_model": width, "d_head": head, "positions": positions}
    made, followed = turned(before, name, value, keeps)
    size = makes(made)
    assert size.d_model == size.n_heads * size.d_head
    assert 1 <= size.n_heads <= sizes.MOST_HEADS and size.d_model <= sizes.MOST_WIDTH
    now = sizes_of(before)
    others = [f"{n} = {size[i]}" for i, n in enumerate(LINKED) if n != name and size[i] != now[i]]
    assert followed == ", ".join(others)


def test_what_follows_is_said() -> None:
    assert turned(USUAL, "n_heads", 8, "d_head") == (USUAL | {"n_heads": 8, "d_model": 128}, "d_model = 128")
    assert turned(USUAL, "n_heads", 8, "d_model") == (USUAL | {"n_heads": 8}, "d_head = 8")
    assert turned(USUAL, "n_heads", 7, "d_model")[1] == "d_head = 8"  # to the nearest that divides 64
    assert turned(USUAL, "d_head", 32, "d_head")[1] == "d_model = 128"
