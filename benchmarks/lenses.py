"""The same questions of one random GPT-2 asked of ours, of TransformerLens, of nnsight and of plain hooks.

Each way has a method a question; what it returns is compared, its processor time and its lines are printed
by `benchmarks.interventions`. TransformerLens and nnsight come with `make install-bench`. Each has a copy
of the network, since some put modules of theirs in its place. A trace of ours, and TransformerLens' cache,
hold all that the network computes; nnsight and the hooks are asked for z alone.
"""

from __future__ import annotations

import copy
import inspect
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Any

import nnsight
import torch
import transformers
from tokenizers import Tokenizer, models
from torch import Tensor
from transformer_lens import TransformerBridge, patching

from attention_lab.models import load_model
from attention_lab.models.interventions.attribution import attribute_heads
from attention_lab.models.interventions.head_sweep import sweep_heads, sweep_positions

LAYERS, HEADS, WIDTH, WORDS, TOKENS = 4, 8, 256, 5_000, 24
QUESTIONS = {
    "everything": "z of every head, from a trace of the whole pass",
    "off": "every head switched off alone",
    "patched": "every head from another text",
    "positions": "the stream into each layer at each position, from another text",
    "gradients": "every head switched off, told from gradients",
}


def random_gpt2() -> tuple[Any, Any, Tensor, Tensor]:
    """The network, a tokenizer for it, and the ids of two texts."""
    torch.manual_seed(0)
    config = transformers.GPT2Config(
        n_layer=LAYERS, n_head=HEADS, n_embd=WIDTH, vocab_size=WORDS, n_positions=64, bos_token_id=1,
        eos_token_id=1,
    )  # fmt: skip
    words = Tokenizer(models.WordLevel({f"w{at}": at for at in range(WORDS)}, unk_token="w0"))
    named = {"bos_token": "w1", "eos_token": "w1", "pad_token": "w1", "unk_token": "w0"}
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=words, **named)
    ids, other = (torch.randint(2, WORDS, (1, TOKENS)) for _ in range(2))
    return transformers.GPT2LMHeadModel(config).eval(), tokenizer, ids, other


def measured(logits: Tensor) -> Tensor:
    """What is asked: of a batch of logits, the difference of two at the last position."""
    return logits[:, -1, 7] - logits[:, -1, 5]


def one(logits: Tensor) -> Tensor:
    """The same of one text, without a batch."""
    return measured(logits)[0]


class Ours:
    """Attention Lab."""

    def __init__(self, net: Any, tokenizer: Any, ids: Tensor, other: Tensor) -> None:
        self.lm, self.ids, self.other = load_model(net, tokenizer), ids, other

    def everything(self) -> Tensor:
        trace = self.lm.trace(self.ids)
        return torch.stack([trace[f"decoder.{at}.self.z"] for at in range(LAYERS)])

    def off(self) -> Tensor:
        return sweep_heads(self.lm, self.ids, measured).effects["decoder.self"]

    def patched(self) -> Tensor:
        sweep = sweep_heads(self.lm, self.ids, measured, change="from", other=self.other)
        return sweep.effects["decoder.self"]

    def positions(self) -> Tensor:
        return sweep_positions(self.lm, self.ids, measured, self.other).effects["decoder"]

    def gradients(self) -> Tensor:
        return attribute_heads(self.lm, self.ids, measured).effects["decoder.self"]


class TransformerLens:
    """TransformerLens."""

    def __init__(self, net: Any, tokenizer: Any, ids: Tensor, other: Tensor) -> None:
        with tempfile.TemporaryDirectory() as folder:  # it reads both again by their names
            tokenizer.save_pretrained(folder)
            net.config.save_pretrained(folder)
            known = transformers.AutoTokenizer.from_pretrained(folder)
            self.lm = TransformerBridge.boot_transformers("gpt2", hf_model=net, tokenizer=known, device="cpu")
        self.ids, self.other = ids, other

    @torch.no_grad()
    def everything(self) -> Tensor:
        _, cache = self.lm.run_with_cache(self.ids)
        z = [cache[f"blocks.{at}.attn.hook_z"][0].transpose(0, 1) for at in range(LAYERS)]
        return torch.stack(z)

    @torch.no_grad()
    def off(self) -> Tensor:
        before, effects = measured(self.lm(self.ids)), torch.zeros(LAYERS, HEADS)
        for at in range(LAYERS):
            for head in range(HEADS):

                def zero(z: Tensor, hook: Any, head: int = head) -> Tensor:
                    z[:, :, head] = 0
                    return z

                hooks = [(f"blocks.{at}.attn.hook_z", zero)]
                effects[at, head] = measured(self.lm.run_with_hooks(self.ids, fwd_hooks=hooks)) - before
        return effects

    @torch.no_grad()
    def patched(self) -> Tensor:
        _, cache = self.lm.run_with_cache(self.other)
        found = patching.get_act_patch_attn_head_out_all_pos(self.lm, self.ids, cache, one)
        return found - measured(self.lm(self.ids))

    @torch.no_grad()
    def positions(self) -> Tensor:
        _, cache = self.lm.run_with_cache(self.other)
        found = patching.get_act_patch_resid_pre(self.lm, self.ids, cache, one)
        return found - measured(self.lm(self.ids))

    def gradients(self) -> Tensor:
        kept, grads = dict[str, Tensor](), dict[str, Tensor]()
        names = [f"blocks.{at}.attn.hook_z" for at in range(LAYERS)]

        def keep(into: dict[str, Tensor], name: str, value: Tensor, hook: Any) -> None:
            into[name] = value.detach()  # by the name that was asked for, which is an alias of the hook's

        with self.lm.hooks(
            fwd_hooks=[(name, partial(keep, kept, name)) for name in names],
            bwd_hooks=[(name, partial(keep, grads, name)) for name in names],
        ):
            measured(self.lm(self.ids)).sum().backward()
        return torch.stack([-(kept[name] * grads[name])[0].sum(dim=(0, 2)) for name in names])


class NNsight:
    """nnsight."""

    def __init__(self, net: Any, tokenizer: Any, ids: Tensor, other: Tensor) -> None:
        self.lm, self.ids, self.other = nnsight.NNsight(net), ids, other

    @torch.no_grad()
    def everything(self) -> Tensor:
        lm = self.lm
        with lm.trace(self.ids):
            z = nnsight.save([layer.attn.c_proj.input for layer in lm.transformer.h])
        return torch.stack(z)[:, 0].unflatten(-1, (HEADS, -1)).transpose(1, 2)

    @torch.no_grad()
    def off(self) -> Tensor:
        lm, before, effects = self.lm, measured(self._logits()), torch.zeros(LAYERS, HEADS)
        size = WIDTH // HEADS
        for at in range(LAYERS):
            for head in range(HEADS):
                with lm.trace(self.ids):
                    lm.transformer.h[at].attn.c_proj.input[:, :, head * size : (head + 1) * size] = 0
                    output = lm.output.save()
                effects[at, head] = measured(output.logits) - before
        return effects

    @torch.no_grad()
    def patched(self) -> Tensor:
        lm, before, effects = self.lm, measured(self._logits()), torch.zeros(LAYERS, HEADS)
        size = WIDTH // HEADS
        with lm.trace(self.other):
            source = nnsight.save([layer.attn.c_proj.input for layer in lm.transformer.h])
        for at in range(LAYERS):
            for head in range(HEADS):
                mine = slice(head * size, (head + 1) * size)
                with lm.trace(self.ids):
                    lm.transformer.h[at].attn.c_proj.input[:, :, mine] = source[at][:, :, mine]
                    output = lm.output.save()
                effects[at, head] = measured(output.logits) - before
        return effects

    @torch.no_grad()
    def positions(self) -> Tensor:
        lm, before, effects = self.lm, measured(self._logits()), torch.zeros(LAYERS, TOKENS)
        with lm.trace(self.other):
            source = nnsight.save([layer.input for layer in lm.transformer.h])
        for at in range(LAYERS):
            for position in range(TOKENS):
                with lm.trace(self.ids):
                    lm.transformer.h[at].input[:, position] = source[at][:, position]
                    output = lm.output.save()
                effects[at, position] = measured(output.logits) - before
        return effects

    def gradients(self) -> Tensor:
        lm = self.lm
        with lm.trace(self.ids):
            z = nnsight.save([layer.attn.c_proj.input for layer in lm.transformer.h])
            output = lm.output.save()
        grads = torch.autograd.grad(measured(output.logits).sum(), z)
        effects = [-(x * grad)[0].unflatten(-1, (HEADS, -1)) for x, grad in zip(z, grads, strict=True)]
        return torch.stack(effects).sum(dim=(1, 3)).detach()

    def _logits(self) -> Tensor:
        with self.lm.trace(self.ids):
            output = self.lm.output.save()
        return output.logits


class Hooks:
    """plain hooks of torch."""

    def __init__(self, net: Any, tokenizer: Any, ids: Tensor, other: Tensor) -> None:
        self.net, self.ids, self.other = net, ids, other
        self.layers = list(net.transformer.h)

    def _run(self, ids: Tensor, modules: list[Any], change: Callable[[int, Tensor], Tensor | None]) -> Tensor:
        def hooked(at: int, module: Any, args: Any) -> Any:
            new = change(at, args[0])
            return None if new is None else (new, *args[1:])

        handles = [each.register_forward_pre_hook(partial(hooked, at)) for at, each in enumerate(modules)]
        try:
            return self.net(ids).logits
        finally:
            for handle in handles:
                handle.remove()

    @property
    def _heads(self) -> list[Any]:
        return [layer.attn.c_proj for layer in self.layers]

    @torch.no_grad()
    def everything(self) -> Tensor:
        z: list[Tensor] = []
        self._run(self.ids, self._heads, lambda at, x: z.append(x))
        return torch.stack(z)[:, 0].unflatten(-1, (HEADS, -1)).transpose(1, 2)

    @torch.no_grad()
    def off(self) -> Tensor:
        before, effects = measured(self.net(self.ids).logits), torch.zeros(LAYERS, HEADS)
        size = WIDTH // HEADS
        for layer in range(LAYERS):
            for head in range(HEADS):

                def zero(at: int, x: Tensor, head: int = head) -> Tensor:
                    x = x.clone()
                    x[:, :, head * size : (head + 1) * size] = 0
                    return x

                effects[layer, head] = measured(self._run(self.ids, [self._heads[layer]], zero)) - before
        return effects

    @torch.no_grad()
    def patched(self) -> Tensor:
        before, effects = measured(self.net(self.ids).logits), torch.zeros(LAYERS, HEADS)
        size, source = WIDTH // HEADS, list[Tensor]()
        self._run(self.other, self._heads, lambda at, x: source.append(x))
        for layer in range(LAYERS):
            for head in range(HEADS):

                def put(at: int, x: Tensor, layer: int = layer, head: int = head) -> Tensor:
                    x, mine = x.clone(), slice(head * size, (head + 1) * size)
                    x[:, :, mine] = source[layer][:, :, mine]
                    return x

                effects[layer, head] = measured(self._run(self.ids, [self._heads[layer]], put)) - before
        return effects

    @torch.no_grad()
    def positions(self) -> Tensor:
        before, effects = measured(self.net(self.ids).logits), torch.zeros(LAYERS, TOKENS)
        source: list[Tensor] = []
        self._run(self.other, self.layers, lambda at, x: source.append(x))
        for layer in range(LAYERS):
            for position in range(TOKENS):

                def put(at: int, x: Tensor, layer: int = layer, position: int = position) -> Tensor:
                    x = x.clone()
                    x[:, position] = source[layer][:, position]
                    return x

                effects[layer, position] = measured(self._run(self.ids, [self.layers[layer]], put)) - before
        return effects

    def gradients(self) -> Tensor:
        z: list[Tensor] = []
        logits = self._run(self.ids, self._heads, lambda at, x: z.append(x))
        grads = torch.autograd.grad(measured(logits).sum(), z)
        effects = [-(x * grad)[0].unflatten(-1, (HEADS, -1)) for x, grad in zip(z, grads, strict=True)]
        return torch.stack(effects).sum(dim=(1, 3)).detach()


WAYS = (Ours, TransformerLens, NNsight, Hooks)


def ways() -> list[Any]:
    """Each way with a network of its own, all with the same weights."""
    net, tokenizer, ids, other = random_gpt2()
    return [way(copy.deepcopy(net), tokenizer, ids, other) for way in WAYS]


def n_lines(way: Any, question: str) -> int:
    """Lines of code of a question, without its first and without blank ones."""
    source = inspect.getsource(getattr(way, question)).splitlines()
    return len([line for line in source if line.strip() and not line.strip().startswith(("@", "def "))])
