"""Where in a module an attention happens, as an address begins."""

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from torch import nn

STACKS = {"encoder": nn.TransformerEncoderLayer, "decoder": nn.TransformerDecoderLayer}
KINDS = {"self_attn": "self", "multihead_attn": "cross"}
NUMBERED = re.compile(r"(?P<before>.*?)(?P<layer>\d+)")


class Places:
    """Knows which part of a module is being computed while `following` is open.

    The attentions of torch's own layers are at `encoder.0.self` or `decoder.0.cross`, as in our models, where
    the module holds one stack of them, or one layer alone. Any other is at the path of the part that computes
    it, like `blocks.3.attn`, or at `attention` for the module itself. A second attention at the same place is
    at `blocks.3.attn.2`, a third at `blocks.3.attn.3`.
    """

    def __init__(self, module: nn.Module) -> None:
        self._module = module
        self._known = _known_places(module)
        self._open: list[str] = []
        self._taken: Counter[str] = Counter()

    @contextmanager
    def following(self) -> Iterator[None]:
        """Hooks that tell when each part begins and ends; they are taken away again, whatever happens."""
        handles = []
        try:
            for path, part in _parts(self._module):
                handles.append(part.register_forward_pre_hook(self._entering(path)))
                handles.append(part.register_forward_hook(self._leaving))
            yield
        finally:
            for handle in handles:
                handle.remove()
            self._open.clear()

    @property
    def here(self) -> str:
        """The path of the part that is being computed; "" for the module itself."""
        return self._open[-1] if self._open else ""

    def take(self) -> str:
        """The address of the next attention at the present place."""
        path = self.here
        place = self._known.get(path, path or "attention")
        self._taken[place] += 1
        times = self._taken[place]
        return place if times == 1 else f"{place}.{times}"

    def _entering(self, path: str) -> Callable[[nn.Module, Any], None]:
        def enter(_module: nn.Module, _inputs: Any) -> None:
            self._open.append(path)

        return enter

    def _leaving(self, _module: nn.Module, _inputs: Any, _output: Any) -> None:
        self._open.pop()


def _parts(module: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """All parts by their paths, without the name of what torch.compile puts around them."""
    for path, part in module.named_modules():
        yield ".".join(name for name in path.split(".") if name != "_orig_mod"), part


def _known_places(module: nn.Module) -> dict[str, str]:
    """Path of an attention in torch's own layers -> its address; those of stacks that are there once."""
    found: dict[str, str] = {}
    for stack, layer_type in STACKS.items():
        paths = [path for path, part in _parts(module) if isinstance(part, layer_type)]
        for path, number in _numbers(paths).items():
            for attribute, kind in KINDS.items():
                found[f"{path}.{attribute}".removeprefix(".")] = f"{stack}.{number}.{kind}"
    return found


def _numbers(paths: list[str]) -> dict[str, str]:
    """The number of each layer, if they are one stack or one layer; else nothing."""
    matches = {path: NUMBERED.fullmatch(path) for path in paths}
    numbers = {path: match["layer"] for path, match in matches.items() if match}
    if len(numbers) == len(paths) and len({match["before"] for match in matches.values() if match}) == 1:
        return numbers
    return {paths[0]: "0"} if len(paths) == 1 else {}
