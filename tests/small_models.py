"""Small models of tasks, untrained or trained for seconds, as tests of tasks read them."""

import torch

from attention_lab.models import ModelConfig, Transformer
from attention_lab.models.data.tasks import Task


def model_of(task: Task, **sizes) -> Transformer:
    """A model of one layer, two heads and 16 channels, unless `sizes` say otherwise."""
    config = {**task.sizes, "n_layers": 1, "n_heads": 2, "d_model": 16, **sizes, **task.required_sizes()}
    return Transformer(ModelConfig(kind=task.kind, **config), seed=0).eval()


def trained(task: Task, n_steps: int, size: int, rate: float = 1e-2, **sizes) -> Transformer:
    """The same after some steps of training."""
    model = model_of(task, **sizes).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=rate)
    for _, batch in zip(range(n_steps), task.batches(0, size), strict=False):
        optimizer.zero_grad()
        task.losses(model, batch)["loss"].backward()
        optimizer.step()
    return model.eval()
