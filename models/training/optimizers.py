"""AdamW and Adam, and their state by the names of the weights."""

import torch
from torch import Tensor, nn

from models.training.config import TrainingConfig


def make_optimizer(model: nn.Module, config: TrainingConfig, device: torch.device) -> torch.optim.Optimizer:
    """Adam (Kingma and Ba 2015), or AdamW with decoupled decay (Loshchilov and Hutter 2019), for all weights.

    One fused pass updates all weights where the device has one; its numbers are the same each time.
    """
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    return kind(
        model.parameters(),
        lr=config.learning_rate,
        betas=(config.beta1, config.beta2),
        weight_decay=config.weight_decay,
        fused=device.type in ("cpu", "cuda"),
    )


def state_of(optimizer: torch.optim.Optimizer, model: nn.Module) -> dict[str, Tensor]:
    """The optimiser's moments as "<weight>|<moment>" -> tensor; weights without any yet are left out."""
    return {
        f"{name}|{key}": value
        for name, weight in model.named_parameters()
        for key, value in optimizer.state.get(weight, {}).items()
    }


def restore(optimizer: torch.optim.Optimizer, model: nn.Module, tensors: dict[str, Tensor]) -> None:
    """Loads what `state_of` returned. Raises ValueError where it belongs to another model."""
    states: dict[str, dict[str, Tensor]] = {}
    for address, value in tensors.items():
        name, _, key = address.partition("|")
        states.setdefault(name, {})[key] = value
    weights = dict(model.named_parameters())
    for name, state in states.items():
        moment = state.get("exp_avg")
        if name not in weights or moment is None or moment.shape != weights[name].shape:
            raise ValueError(f"the optimiser's state has {name!r}, which is not so in this model")
    whole = optimizer.state_dict()
    whole["state"] = {at: states[name] for at, name in enumerate(weights) if name in states}
    optimizer.load_state_dict(whole)
