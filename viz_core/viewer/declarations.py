"""What of a board is sent, as TypeScript declares it: the dataclasses of viz_core/boards, field by field."""

import json
from collections.abc import Sequence
from dataclasses import fields
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from ..boards import Diagram, Fact, Facts, Matrix, Node, Scrub, Sign, Table
from ..boards.chart import Chart, Moving, Paint, Worded, Written

SENT = (Moving, Paint, Worded, Written, Chart, Scrub, Fact, Facts, Table, Sign, Node, Diagram, Matrix)
_FRAMED = 'import type { Framed } from "../viz_core/viewer/browser/message.js";\n'
_PLAIN = {
    str: "string", int: "number", float: "number", bool: "boolean", type(None): "null", np.ndarray: "Framed",
    Any: "any",
}  # fmt: skip


def declarations() -> str:
    """An interface for each of them, named as it is."""
    return _FRAMED + "".join(map(_interface, SENT))


def _interface(sent: type[Any]) -> str:
    kinds = get_type_hints(sent)
    entries = "".join(f"  {spec.name}: {_type_of(kinds[spec.name])};\n" for spec in fields(sent))
    return f"export interface {sent.__name__} {{\n  kind: string;\n{entries}}}\n"


def _type_of(kind: Any) -> str:
    origin, parts = get_origin(kind), get_args(kind)
    if kind in _PLAIN or kind in SENT:
        return _PLAIN.get(kind) or kind.__name__
    if origin is Literal:
        return " | ".join(map(json.dumps, parts))
    if origin in (Union, UnionType):
        return " | ".join(dict.fromkeys(map(_type_of, parts)))
    if origin is tuple:
        return f"[{', '.join(map(_type_of, parts))}]"
    if origin is Sequence:
        return f"Array<{_type_of(parts[0])}>"
    assert origin is dict, kind
    return f"Record<{', '.join(map(_type_of, parts))}>"
