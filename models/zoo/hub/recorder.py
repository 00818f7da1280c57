"""Records one pass through a model of transformers under the addresses of our traces."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor, nn
from transformers.utils.generic import ModelOutput

from ...engine.address import Address
from ...engine.capture import UNSEEN
from ...engine.trace import Trace
from ...engine.unembedding import Unembedding
from .attention import AttentionCall, AttentionObserver, infinite_where_hidden, operands_of
from .layout import LINEAR, Layout, is_sum, stream_of


def recorded_addresses(layout: Layout) -> list[str]:
    """The addresses that a recorder records in every pass through such layers."""
    addresses = []
    for stack in layout.stacks:
        for layer in layout.of(stack):
            parts = [f"{kind}.{name}" for kind in layer.calls for name in ("q", "k", "v", "pattern", "z")]
            parts += [] if layer.ff is None else ["ff.post"]
            parts += [f"{kind}.out" for kind in (layer.added.sites if layer.added else ())]
            addresses += [f"{layer.at}.{part}" for part in ("resid_pre", *parts, "resid_post")]
        addresses += [f"{stack}.norm"] if layout.ends else []
    return addresses


def check_lengths(layer: str, call: AttentionCall, n_queries: int, n_keys: int) -> None:
    """Raises ValueError where an attention is not between tokens, one row and one column for each."""
    if (call.n_queries, call.n_keys) != (n_queries, n_keys):
        raise ValueError(
            f"{layer} attends between {call.n_queries} queries and {call.n_keys} keys where {n_queries} and "
            f"{n_keys} tokens are read"
        )


class Recorder(AttentionObserver):
    """Observes everything in one pass, and gives it to a trace; the next pass needs another recorder.

    lengths: how many tokens each stack reads, where that is to be checked. Recording raises ValueError where
    an attention is not between these.
    Values are recorded in float32, and scores that are hidden as -inf. k and v are [key head, key, d_head].
    """

    def __init__(self, trace: Trace, layout: Layout, lengths: Mapping[str, int] | None = None) -> None:
        super().__init__(layout.places)
        self.lengths = lengths
        self.trace = trace
        self.layout = layout
        self.n_begun = dict.fromkeys(layout.stacks, 0)
        self.n_embedded = 0
        self.layer = ""
        self.prefix = ""
        self.n_attended = 0
        self.stack_of = {layer.module: layer.stack for layer in layout.layers}
        self.addresses = {stack: [layer.at for layer in layout.of(stack)] for stack in layout.stacks}
        self.feeding = {layer.ff for layer in layout.layers}
        getters = (getattr(stack, "get_input_embeddings", None) for stack in layout.stacks.values())
        embeddings = (read_by(getter) for getter in getters if getter is not None)
        self.embeddings = {module for module in embeddings if isinstance(module, nn.Embedding)}
        self.sites: dict[nn.Module, dict[tuple[int, int], str]] = {}
        for layer in layout.layers:
            for kind, site in layer.added.sites.items() if layer.added else ():
                self.sites.setdefault(site.module, {})[site.number, site.operand] = kind

    @contextmanager
    def recording(self) -> Iterator[None]:
        """Within it, one pass of the model is recorded."""
        wholes = [*self.layout.stacks.values(), *self.stack_of]
        inside = [module for whole in wholes for module in whole.modules() if not _is_plain(module)]
        with self.observing([*wholes, *inside, *filter(None, self.feeding), *self.embeddings]):
            yield

    def watches(self, module: nn.Module) -> bool:
        return module in self.sites or bool(self.layout.places)

    def enters(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        if module in self.stack_of:
            stack = self.stack_of[module]
            self.layer, self.n_attended = self.addresses[stack][self.n_begun[stack]], 0
            self.n_begun[stack] += 1
            before = stream_of(args, keywords)
            after = self._recorded(f"{self.layer}.resid_pre", before)
            new = {name: after if value is before else value for name, value in keywords.items()}
            return tuple(after if value is before else value for value in args), new
        if module in self.feeding:
            return (self._recorded(f"{self.layer}.ff.post", args[0]), *args[1:]), keywords
        return None

    def leaves(self, module: nn.Module, args: tuple[Any, ...], keywords: dict[str, Any], output: Any) -> Any:
        if module in self.stack_of:
            address, self.layer = f"{self.layer}.resid_post", ""
            output = self._first(address, output)
        if module in self.embeddings and self.n_embedded < len(self.layout.stacks):
            self.n_embedded += 1
            output = self._recorded(f"{list(self.layout.stacks)[self.n_embedded - 1]}.embed", output)
        return self._finished(module, output)

    def computes(self, function: Callable[..., Any], args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        here = self.open[-1] if self.open else None
        if here is None or here.module not in self.sites:
            return super().computes(function, args, keywords)
        operands, rest = operands_of(args, keywords, "input", "other")
        if not is_sum(function, operands, keywords):
            return super().computes(function, args, keywords)
        for at in (0, 1):
            kind = self.sites[here.module].get((here.n_sums, at))
            if kind is not None:
                operands[at] = self._recorded(f"{self.layer}.{kind}.out", operands[at])
        here.n_sums += 1
        return function(*operands, **rest)

    def begin(self, call: AttentionCall) -> None:
        """A layer attends: first to its own stack, then, in a decoder that reads an encoder, to that."""
        if not self.layer:
            raise ValueError(f"its {type(call.module).__name__} attends outside of any layer that was called")
        self.prefix = f"{self.layer}.{'cross' if self.n_attended else 'self'}"
        if self.lengths:
            n = self.lengths[Address.parse(self.layer).stack]
            check_lengths(self.layer, call, n, self.lengths["encoder"] if self.n_attended else n)
        self.n_attended += 1

    def observe(self, name: str, value: Tensor) -> Tensor:
        """Records a value of the attention that is computed; returns it, edited where the trace edits."""
        return self._recorded(f"{self.prefix}.{name}", value)

    def _recorded(self, address: str, value: Tensor) -> Tensor:
        """A trace's streams have a batch of one; some layers hold them as [position, (1,) channel]."""
        with UNSEEN():  # what an edit computes is no sum or product of the model's
            flat = value.ndim == 2 or value.shape[0] != 1
            whole = value.reshape(1, -1, value.shape[-1]) if flat else value
            shown = infinite_where_hidden(whole) if address.endswith(".scores") else whole
            copied = shown.float().cpu()
            if copied.data_ptr() == value.data_ptr() and copied.ndim == 3:
                copied = copied.clone()  # some models add to theirs in place
            after = self.trace.record(address, copied)
            # A copy, since the model may write over what it goes on with.
            return value if after is copied else after.to(value, copy=True).reshape(value.shape)

    def _finished(self, module: nn.Module, output: Any) -> Any:
        stack = next((name for name, each in self.layout.stacks.items() if each is module), None)
        return output if stack is None or not self.layout.ends else self._first(f"{stack}.norm", output)

    def _first(self, address: str, output: Any) -> Any:
        """Records the first of what a module made, whether it made one tensor or several."""
        if isinstance(output, Tensor):
            return self._recorded(address, output)
        after = self._recorded(address, output[0])
        if after is output[0]:
            return output
        if isinstance(output, ModelOutput):
            output[next(iter(output))] = after
            return output
        return type(output)((after, *output[1:]))


def _is_plain(module: nn.Module) -> bool:
    """Tells whether the recorder may pass it over: one function of torch, such as a linear map or a norm."""
    return isinstance(module, LINEAR) or (
        not module._modules and type(module).__module__.startswith("torch.nn.")
    )


def read_by(get: Callable[[], Any]) -> Any:
    """What a getter of transformers gives; None where the architecture has nothing to give."""
    try:
        return get()
    except (NotImplementedError, AttributeError):
        return None


# How a model of transformers makes logits of its last stream, found by what its modules do.

TOLERANCE = 1e-3
"""How far the logits may be from those that are made again, as a share of the largest."""


@torch.no_grad()
def unembedding_of(net: Any, last: nn.Module, run: Callable[[], Any]) -> Unembedding | None:
    """That of a network whose last layer is `last`; None where more than a norm and a matrix follow it.

    run: makes a pass over any text.
    """
    head = net.get_output_embeddings()
    called: list[nn.Module] = []
    streams: list[Tensor] = []

    def finish(module: nn.Module, args: Any, output: Any) -> None:
        called.clear()
        streams.append(output[0] if isinstance(output, tuple) else output)

    def leaf(module: nn.Module, args: Any, output: Any) -> None:
        called.append(module)

    passive = (nn.Dropout, nn.Identity)
    leaves = [m for m in net.modules() if not list(m.children()) and not isinstance(m, passive)]
    hooks = [last.register_forward_hook(finish), *(m.register_forward_hook(leaf) for m in leaves)]
    try:
        output = run()
    finally:
        for hook in hooks:
            hook.remove()
    if not (isinstance(head, nn.Linear) and streams and 1 <= len(called) <= 2 and called[-1] is head):
        return None
    final, logits = streams[-1][0, -1].float().cpu(), output.logits[0, -1].float().cpu()
    own = _read(called[0] if len(called) == 2 else None, head, final)
    if own is None:
        return None
    close = (own.logits(final, final) + own.constant - logits).abs().max() <= TOLERANCE * logits.abs().max()
    return own if bool(close) else None


def _read(norm: nn.Module | None, head: nn.Linear, final: Tensor) -> Unembedding | None:
    """The norm by what it makes of vectors, `final` one of them; None where it is no layer or RMS norm."""
    words = head.weight.detach().float().cpu().T
    constant = torch.zeros(words.shape[1]) if head.bias is None else head.bias.detach().float().cpu()
    if norm is None:
        return None

    def normed(x: Tensor) -> Tensor:
        weight = next(norm.parameters())
        return norm(x.to(weight)[None, None])[0, 0].float().cpu()

    n = len(final)
    known = torch.linspace(1, 2, n) * (1 - 2 * (torch.arange(n) % 2))  # nowhere near its mean
    bias = normed(torch.zeros(n))
    for centred in (True, False):
        plain = Unembedding(centred, torch.ones(n), words, constant + bias @ words)
        unit = [plain.normed(x) / plain.scale(x) for x in (known, final)]
        gain = (normed(known) - bias) / unit[0]
        if torch.allclose(bias + gain * unit[1], normed(final), rtol=TOLERANCE, atol=TOLERANCE):
            return replace(plain, gain=gain)
    return None
