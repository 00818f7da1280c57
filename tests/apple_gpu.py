"""A GPU like Apple's, without one: tensors on a device of their own, which knows no float64.

The device is called "meta", which every build of PyTorch has. What is on it are numbers of the CPU in a
shell. An operation is refused, as there, that makes float64 on it or meets a tensor of the CPU beside one of
its own; so is float64 that crosses between the two, which must be cast before it moves there, and after it
moved here. `nvidia_gpu` is one that has float64, and `unwaited` refuses operations for which the program
would wait until the device has done all that it was given.
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from attention_lab.models.engine import position_scheme

DEVICE = torch.device("meta")
_COPIES = (torch.ops.aten.copy_.default, torch.ops.aten._to_copy.default)
_INDEXES = (torch.ops.aten.index.Tensor, torch.ops.aten.index_put_.default)  # by those of the CPU, too
_LACKS = {torch.float64, torch.complex128}
_READ = (  # their results, or the shapes of these, are numbers of the device
    torch.ops.aten._local_scalar_dense.default, torch.ops.aten.nonzero.default, torch.ops.aten.equal.default,
    torch.ops.aten.masked_select.default, torch.ops.aten.is_nonzero.default,
    torch.ops.aten.repeat_interleave.Tensor, torch.ops.aten._unique2.default,
    torch.ops.aten.multinomial.default,  # looks whether chances are chances
)  # fmt: skip
_lacking, _waits = [True], [True]  # whether the device has no float64, and whether it may be waited for


class Shell(Tensor):
    """A tensor on the device, around the one of the CPU that has its numbers."""

    near: Tensor

    @staticmethod
    def __new__(cls, near: Tensor) -> "Shell":
        if _lacking[-1] and near.dtype in _LACKS:
            raise TypeError(f"the device has no {near.dtype}")
        shell = Tensor._make_wrapper_subclass(
            cls, near.shape, near.stride(), near.storage_offset(), dtype=near.dtype, device=DEVICE
        )
        shell.near = near
        return shell

    def tolist(self) -> Any:
        _check_no_wait("tolist")
        return self.near.tolist()

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Sequence[Any], arguments: Sequence[Any] = (), named: Any = None
    ) -> Any:
        return _computed(function, arguments, named or {})


@contextmanager
def apple_gpu() -> Iterator[None]:
    """Inside, the device is there; pinned memory is like any."""
    lacking = patch.object(position_scheme, "WITHOUT_FLOAT64", (DEVICE.type,) if _lacking[-1] else ())
    pinned = patch.object(Tensor, "pin_memory", lambda self: self)
    with lacking, pinned, patch("torch.Generator", _Generator), _Factories(), _Operations():
        yield


@contextmanager
def nvidia_gpu() -> Iterator[None]:
    """Inside, the device is there and has float64."""
    _lacking.append(False)
    try:
        with apple_gpu():
            yield
    finally:
        _lacking.pop()


@contextmanager
def unwaited() -> Iterator[None]:
    """Inside, nothing may wait for the device."""
    _waits.append(False)
    try:
        yield
    finally:
        _waits.pop()


def _check_no_wait(what: object) -> None:
    if not _waits[-1]:
        raise RuntimeError(f"{what} waits for the device")


class _Generator(torch.Generator):
    """Of the device, too, it is one of the CPU."""

    def __new__(cls, device: Any = "cpu") -> "_Generator":
        return super().__new__(cls, "cpu")


class _Factories(TorchFunctionMode):
    """`torch.tensor` alone makes tensors of this device that no dispatch sees."""

    def __torch_function__(
        self, function: Any, types: Sequence[Any], arguments: Sequence[Any] = (), named: Any = None
    ) -> Any:
        named = dict(named or {})
        if function is torch.tensor and named.get("device") is not None:
            where = named.pop("device")
            return torch.tensor(*arguments, **named).to(where)
        return function(*arguments, **named)


class _Operations(TorchDispatchMode):
    def __torch_dispatch__(
        self, function: Any, types: Sequence[Any], arguments: Sequence[Any] = (), named: Any = None
    ) -> Any:
        return _computed(function, arguments, named or {})


def _computed(function: Any, arguments: Sequence[Any], named: dict[str, Any]) -> Any:
    """What an operation gives, computed on the CPU, where it belongs."""
    tensors = [*_tensors(arguments), *_tensors(named.values())]
    shells = [each for each in tensors if isinstance(each, Shell)]
    if not shells and named.get("device") is None:
        return function(*arguments, **named)
    copies = function in _COPIES
    others = [each for each in tensors if not isinstance(each, Shell) and each.dim()]
    if shells and others and not copies and function not in _INDEXES:
        raise RuntimeError(f"{function} meets tensors of two devices")
    where = named.get("device")
    far = bool(shells) if where is None else torch.device(where) == DEVICE
    if function is torch.ops.aten.copy_.default:
        far = isinstance(arguments[0], Shell)
    if shells and (function in _READ or (function in _INDEXES and (others or _by_mask(arguments[1])))):
        _check_no_wait(function)
    if copies and far != isinstance(arguments[-1], Shell) and not named.get("non_blocking"):
        _check_no_wait(f"a copy of {list(arguments[-1].shape)} {'to' if far else 'from'} the device")
    given, how = _near(arguments), {name: _near(each) for name, each in named.items()}
    if where is not None:
        how["device"] = torch.device("cpu")
    result = function(*given, **how)
    crosses = copies and far != isinstance(arguments[-1], Shell)
    if crosses and _lacking[-1] and _LACKS & {given[-1].dtype, result.dtype}:
        raise TypeError(f"{given[-1].dtype} crosses as {result.dtype}, and the device has no float64")
    if not far or function is torch.ops.aten._local_scalar_dense.default:
        return result
    known = {id(each.near): each for each in shells}  # what is changed in place keeps its shell
    return _far(result, known)


def _by_mask(indexes: Sequence[Tensor | None]) -> bool:
    return any(each is not None and each.dtype == torch.bool for each in indexes)


def _tensors(values: Iterable[Any]) -> Iterator[Tensor]:
    for each in values:
        if isinstance(each, Tensor):
            yield each
        elif isinstance(each, (list, tuple)):
            yield from _tensors(each)


def _near(x: Any) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(map(_near, x))
    return x.near if isinstance(x, Shell) else x


def _far(x: Any, known: dict[int, Shell]) -> Any:
    if isinstance(x, (list, tuple)):
        return type(x)(_far(each, known) for each in x)
    if not isinstance(x, Tensor):
        return x
    return known[id(x)] if id(x) in known else Shell(x)
