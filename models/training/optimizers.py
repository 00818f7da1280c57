"""AdamW and Adam, and their state by the names of the weights."""

from typing import Any

import torch
from torch import Tensor, nn

from models.training.config import TrainingConfig


def make_optimizer(model: nn.Module, config: TrainingConfig, device: torch.device) -> torch.optim.Optimizer:
    """Adam (Kingma and Ba 2015), or AdamW with decoupled decay (Loshchilov and Hutter 2019), for all weights.

    The config's `decay` says which weights decay; see `decays`.
    One fused pass updates all weights where the device has one; its numbers are the same each time.
    """
    kind = torch.optim.AdamW if config.optimizer == "adamw" else torch.optim.Adam
    return kind(
        _groups(model, config),
        lr=config.learning_rate,
        betas=(config.beta1, config.beta2),
        weight_decay=config.weight_decay,
        fused=device.type in ("cpu", "cuda"),
    )


def decays(name: str, weight: Tensor) -> bool:
    """Whether weight decay draws this weight to 0 where only "matrices" do: linear maps and embeddings.

    Gains and offsets of norms, and biases, are free: they are few, and drawing a gain to 0 is no prior for a
    simple function. Embeddings decay, as in nanoGPT, since ours are most often the output layer, too.
    Transformer-XL's u and v have three axes and are biases, so the name counts as well.
    """
    return weight.dim() >= 2 and name.endswith("weight")


def _groups(model: nn.Module, config: TrainingConfig) -> Any:
    """The weights as an optimiser takes them."""
    if config.decay == "all":
        return model.parameters()
    split: dict[bool, list[Tensor]] = {True: [], False: []}
    for name, weight in model.named_parameters():
        split[decays(name, weight)].append(weight)
    return [{"params": split[True]}, {"params": split[False], "weight_decay": 0.0}]


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
    names = {id(weight): name for name, weight in weights.items()}
    order = [names[id(weight)] for group in optimizer.param_groups for weight in group["params"]]
    whole["state"] = {at: states[name] for at, name in enumerate(order) if name in states}
    optimizer.load_state_dict(whole)
