"""What the engine costs: a training step against a plain model's, a traced forward against transformers'.

    python -m benchmarks.engine [--repeats 15] [--threads 1]

The two sides take turns in one run, so that whatever else the machine does hits both.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from transformers import AutoModelForCausalLM, GPT2Config

from attention_lab.models import ModelConfig, Trace, Transformer, load_model
from attention_lab.models.config import Activation
from tests.models.zoo.hub.families import tokenizer_of

VOCABULARY, D_MODEL, N_HEADS, N_LAYERS = 1_000, 384, 12, 6


class PlainBlock(nn.Module):
    """A pre-norm decoder layer as one would write it by hand."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.norm1, self.norm2 = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.q, self.k, self.v, self.out = (nn.Linear(d_model, d_model) for _ in range(4))
        self.up, self.down = nn.Linear(d_model, 4 * d_model), nn.Linear(4 * d_model, d_model)

    def forward(self, x: Tensor) -> Tensor:
        """One layer further, [batch, position, d_model]."""
        batch, n, d_model = x.shape
        h = self.norm1(x)
        q, k, v = (
            proj(h).view(batch, n, self.n_heads, -1).transpose(1, 2) for proj in (self.q, self.k, self.v)
        )
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(z.transpose(1, 2).reshape(batch, n, d_model))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class PlainModel(nn.Module):
    """A decoder-only transformer, learned positions, tied embeddings: no options, no checks, no trace."""

    def __init__(self, n_positions: int) -> None:
        super().__init__()
        self.tokens = nn.Embedding(VOCABULARY, D_MODEL)
        self.positions = nn.Embedding(n_positions, D_MODEL)
        self.blocks = nn.Sequential(*(PlainBlock(D_MODEL, N_HEADS) for _ in range(N_LAYERS)))
        self.norm = nn.LayerNorm(D_MODEL)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits [batch, position, vocab]."""
        x = self.tokens(tokens) * D_MODEL**0.5 + self.positions.weight[: tokens.shape[1]]
        return F.linear(self.norm(self.blocks(x)), self.tokens.weight)


def engine_model(n_positions: int, activation: Activation) -> Transformer:
    """The engine's model of the same shape."""
    return Transformer(
        ModelConfig(
            kind="decoder-only",
            n_layers=N_LAYERS,
            n_heads=N_HEADS,
            d_model=D_MODEL,
            vocab_size=VOCABULARY,
            max_len=n_positions,
            activation=activation,
            positions="learned",
        ),
        seed=0,
    )


def training_steps(batch: int, n: int) -> dict[str, Callable[[], object]]:
    """Forward, loss, backward and AdamW on the same random tokens, for the engine and the plain model."""
    tokens = torch.randint(1, VOCABULARY, (batch, n + 1), generator=torch.Generator().manual_seed(0))

    def step_of(model: nn.Module) -> Callable[[], object]:
        optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

        def step() -> None:
            logits = model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

        return step

    return {"engine": step_of(engine_model(n, "gelu")), "plain": step_of(PlainModel(n))}


def traced_forwards(n: int) -> dict[str, Callable[[], object]]:
    """One prompt with everything recorded, against GPT-2 of the same shape returning its attentions."""
    tokens = torch.randint(1, VOCABULARY, (1, n), generator=torch.Generator().manual_seed(0))
    engine, gpt2 = engine_model(n, "gelu-tanh").eval(), gpt2_model(n)

    @torch.no_grad()
    def traced() -> Trace:
        trace = Trace()
        engine(tokens, trace=trace)
        return trace

    @torch.no_grad()
    def with_attentions() -> object:
        return gpt2(tokens, output_attentions=True).attentions

    return {"engine": traced, "GPT-2": with_attentions}


def gpt2_model(n: int) -> Any:
    """GPT-2 of the engine's shape, with eager attention."""
    shape = GPT2Config(
        vocab_size=VOCABULARY,
        n_positions=n,
        n_embd=D_MODEL,
        n_layer=N_LAYERS,
        n_head=N_HEADS,
        use_cache=False,
        bos_token_id=None,
        eos_token_id=None,
    )
    return AutoModelForCausalLM.from_config(shape, attn_implementation="eager").eval()


def traced_of_transformers(n: int) -> dict[str, Callable[[], object]]:
    """One prompt through a model of transformers with everything recorded, against its own pass with
    attentions and hidden states.
    """
    gpt2 = gpt2_model(n)
    model = load_model(gpt2, tokenizer_of("byte-level"))
    reading = model.read_ids(torch.randint(1, VOCABULARY, (n,)).tolist())

    @torch.no_grad()
    def eager() -> object:
        return gpt2(*reading.inputs, output_attentions=True, output_hidden_states=True)

    return {"hf: GPT-2": lambda: model.trace(reading), "eager": eager}


def compare(sides: dict[str, Callable[[], object]], repeats: int) -> tuple[list[float], float]:
    """Each side's median seconds, and the median over rounds of first / second; two rounds warm up.

    The sides take turns at going first. Each keeps its last result until it has the next, as a page keeps the
    trace it shows: else the kernel takes the memory back in between, and page faults are what is measured.
    """
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    results: dict[str, object] = {}
    for turn in range(repeats + 2):
        for name in list(sides)[:: 1 if turn % 2 else -1]:
            start = time.perf_counter()
            results[name] = sides[name]()
            seconds[name].append(time.perf_counter() - start)
    ours, theirs = (values[2:] for values in seconds.values())
    ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
    return [statistics.median(ours), statistics.median(theirs)], ratio


def main() -> None:
    """Prints one row per comparison."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    comparisons = [
        ("training step, 4 x 128 tokens", training_steps(4, 128), 1.03),
        ("traced forward, 512 tokens", traced_forwards(512), 1.00),
        ("traced hf: GPT-2, 64 tokens", traced_of_transformers(64), 1.10),
        ("traced hf: GPT-2, 512 tokens", traced_of_transformers(512), 1.10),
    ]
    print(f"{N_LAYERS} layers, {N_HEADS} heads, d_model {D_MODEL}, {options.threads} thread(s)")
    for title, sides, target in comparisons:
        medians, ratio = compare(sides, options.repeats)
        times = "   ".join(f"{name} {s * 1e3:7.1f} ms" for name, s in zip(sides, medians, strict=True))
        print(f"{title:<32}{times}   ratio {ratio:.3f} (target at most {target:.2f})")


if __name__ == "__main__":
    main()
