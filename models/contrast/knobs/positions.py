"""Positions: taken away, or by another scheme that has learnt nothing."""

from dataclasses import replace

from ...config import POSITION_SCHEMES
from ...engine.positions import POSITIONS
from ...engine.transformer import Stack, Transformer
from ...zoo.model import Model
from ..knob import Knob, is_ours, one_of, only_ours, with_model, words_of
from ..side import Side


def _own(model: Model) -> str:
    return str(model.config.positions) if is_ours(model) else "its own"


def _values(model: Model) -> tuple[str, ...]:
    """The model's own, and the schemes without weights; none of pairs where channels cannot be paired."""
    if not is_ours(model):
        return ("its own",)
    schemes = {
        name: POSITIONS[name] for name in POSITION_SCHEMES if not POSITIONS[name].n_parameters(model.config)
    }
    odd = model.config.head_size % 2
    fits = [name for name, scheme in schemes.items() if not (odd and scheme.pairs_channels)]
    return tuple(dict.fromkeys((_own(model), *fits)))


def _turned(side: Side, value: str) -> Side:
    if value not in _values(side.model):
        raise ValueError(
            f"positions={value!r} has weights that {side.model.name!r} never learnt, or does not fit its "
            f"heads; choose one of {', '.join(_values(side.model))}"
        )

    def change(net: Transformer) -> None:
        if value == net.config.positions:  # its own, learnt ones among them
            return
        net.config = replace(net.config, positions=value)
        for module in net.modules():
            if isinstance(module, Stack):
                module.positions = POSITIONS[value](net.config, causal=module.causal)
                module.local_positions = None

    return with_model(side, side.model.remade(change))


KNOB = Knob(
    **words_of("positions"),
    own=_own,
    values=_values,
    read=one_of("positions", *POSITION_SCHEMES),
    why_not=lambda side: only_ours(side, "positions"),
    turned=_turned,
)
