"""Adam, written out (Kingma and Ba 2015, algorithm 1)."""

import time
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

from attention_lab.models.config import ModelConfig, Norm
from attention_lab.models.engine.transformer import Transformer

BETAS = (0.9, 0.98)
"""Vaswani et al. 2017, 5.3; PyTorch's own default is (0.9, 0.999)."""
EPSILON = 1e-9


class Adam:
    """Running means of the gradient, m, and of its square, v; both begin at 0."""

    def __init__(self, like: Float[Tensor, " weight"], betas: tuple[float, float] = BETAS) -> None:
        self.m, self.v = torch.zeros_like(like), torch.zeros_like(like)
        self.betas = betas
        self.step = 0

    def direction(self, gradient: Float[Tensor, " weight"]) -> Float[Tensor, " weight"]:
        """m-hat / (sqrt(v-hat) + eps): what the learning rate is multiplied with, about 1 at most."""
        (beta1, beta2), self.step = self.betas, self.step + 1
        self.m.lerp_(gradient, 1 - beta1)  # m = beta1 m + (1 - beta1) g
        self.v.lerp_(gradient.square(), 1 - beta2)
        m_hat = self.m / (1 - beta1**self.step)  # without the bias towards the 0 of the start
        v_hat = self.v / (1 - beta2**self.step)
        return m_hat / (v_hat.sqrt() + EPSILON)


def flat(model: nn.Module) -> tuple[Float[Tensor, " weight"], Float[Tensor, " weight"]]:
    """All weights of a model in a row, their gradients in another; the model's own become views of them."""
    parameters = list(model.parameters())
    sizes = [weight.numel() for weight in parameters]
    weights = torch.cat([weight.detach().flatten() for weight in parameters])
    gradients = torch.zeros_like(weights)
    for weight, at, gradient in zip(parameters, weights.split(sizes), gradients.split(sizes), strict=True):
        weight.data, weight.grad = at.view_as(weight), gradient.view_as(weight)
    return weights, gradients


WORDS = ("a", "am", "I", "thanks", "student", "<eos>")
START = len(WORDS)
"""What the decoder reads first: a seventh id, which it cannot write."""
PAIRS = (
    (("je", "suis", "étudiant"), ("I", "am", "a", "student", "<eos>")),
    (("merci",), ("thanks", "<eos>")),
)
SOURCE_WORDS = ("<pad>", "je", "suis", "étudiant", "merci")
SOURCE = torch.tensor([[1, 2, 3], [4, 0, 0]])
READ = torch.tensor([[START, 2, 1, 0, 4], [START, 3, 5, 5, 5]])
"""The targets, one place to the right (teacher forcing); nothing is asked after an <eos>."""
ASKED = torch.tensor([[True] * 5, [True, True, False, False, False]])
TARGETS = torch.tensor([2, 1, 0, 4, 5, 3, 5])
"""The right word at each of the seven positions that are asked, sentence by sentence."""


def toy_model(*, seed: int, n_layers: int = 1, norm: Norm = "pre") -> Transformer:
    """2 heads, 16 channels, n_layers in each stack; the seed draws all weights, 5,936 with one layer."""
    config = ModelConfig(
        kind="encoder-decoder", n_layers=n_layers, n_heads=2, d_model=16, d_ff=32, norm=norm, max_len=5,
        vocab_size=len(SOURCE_WORDS), target_vocab_size=len(WORDS) + 1, pad_id=None, tied_embeddings=False,
    )  # fmt: skip
    return Transformer(config, seed=seed)


def toy_logits(model: Transformer) -> Float[Tensor, "position word"]:
    """The model's scores for the six words, at each of the seven positions."""
    real = (SOURCE != 0)[:, None, None]  # [sentence, 1, 1, source]: nobody looks at padding
    memory = model.encode(SOURCE, mask=real)
    return model.decode(READ, memory, real)[ASKED][:, :START]


def positions() -> list[str]:
    """What each of the seven positions is: its sentence, and the word read last."""
    return [
        f"after {before}: {source[0]}{'…' * (len(source) > 1)}"
        for source, target in PAIRS
        for before in ("<start>", *target[:-1])
    ]


MOST_RECORDS = 50


@dataclass(frozen=True)
class Setup:
    """How the toy is trained; `smoothing` is the eps of label smoothing.

    The rate grows in a line for `warmup` steps and then stays. n_layers and norm are those of each stack.
    """

    steps: int = 20
    learning_rate: int | float = 0.01
    smoothing: int | float = 0.0
    seed: int = 0
    warmup: int = 0
    n_layers: int = 1
    norm: Norm = "pre"


@dataclass(frozen=True)
class Run:
    """What training wrote down; record 0 is the model before its first step."""

    steps: list[int]
    probabilities: Float[Tensor, "record position word"]
    loss: Float[Tensor, " record"]
    """Mean over positions, in nats, against the smoothed targets."""
    n_weights: int
    seconds: float


def train(setup: Setup) -> Run:
    """Trains on all seven positions in every step, by Adam (Vaswani et al. 2017, 5.3)."""
    began = time.perf_counter()
    model = toy_model(seed=setup.seed, n_layers=setup.n_layers, norm=setup.norm)
    weights, gradients = flat(model)
    adam = Adam(weights)
    recorded, probabilities, losses = records(setup.steps), [], []
    for step in range(setup.steps + 1):
        logits = toy_logits(model)  # [position, word]
        loss = F.cross_entropy(logits, TARGETS, label_smoothing=setup.smoothing)
        if step in recorded:
            probabilities.append(logits.detach().softmax(dim=-1))
            losses.append(loss.detach())
        if step < setup.steps:
            gradients.zero_()
            loss.backward()
            rate = setup.learning_rate * min(1.0, (step + 1) / max(1, setup.warmup))
            weights -= rate * adam.direction(gradients)
    seconds = time.perf_counter() - began
    return Run(recorded, torch.stack(probabilities), torch.stack(losses), len(weights), seconds)


def records(steps: int) -> list[int]:
    """The steps that are written down: all, or as many of them, evenly spread, as there may be."""
    every = -(-steps // MOST_RECORDS)
    return [*range(0, steps, every), steps]


def of_the_right_word(run: Run) -> Float[Tensor, "record position"]:
    """The probability of each position's target."""
    return run.probabilities[:, torch.arange(len(TARGETS)), TARGETS]


def written(run: Run) -> list[list[list[str]]]:
    """The likeliest word at each position, by record and sentence."""
    ends = [len(target) for _, target in PAIRS]
    return [
        [[WORDS[word] for word in part.tolist()] for part in best.split(ends)]
        for best in run.probabilities.argmax(dim=-1)
    ]


@torch.no_grad()
def untrained_loss(seed: int) -> float:
    """The loss before the first step, against one-hot targets, in nats."""
    return F.cross_entropy(toy_logits(toy_model(seed=seed)), TARGETS).item()
