"""What a person wrote into the form, as the sweep that it asks for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from models.sweeps import Choices, Range, Spec
from pages.shared.link import Rule, written
from pages.shared.training import settings
from pages.shared.training.labels import label_of
from pages.shared.training.tasks_on_offer import TaskInfo
from pages.sweeps import state

_PARTS = re.compile(r"\s*,\s*")
_ENDS = re.compile(r"\s*(?:,|\bto\b|…|\.\.+)\s*")


def spec_of(info: TaskInfo, fixed: Mapping[str, Any], form: Mapping[str, Any]) -> Spec:
    """The sweep of the form. Raises ValueError, with value, rule and remedy, for what is none."""
    declared = settings.declared(info)
    space: dict[str, Choices | Range] = {}
    for row in range(1, form["rows"] + 1):
        name = form[f"vary{row}"]
        if name in space:
            raise ValueError(f"{label_of(name)} stands in two rows; write all its values in one")
        space[name] = variation(name, form[f"how{row}"], form[f"values{row}"], declared[name].rule)
    changed = {name: fixed[name] for name, spec in declared.items() if fixed[name] != spec.default}
    given = settings.with_paths(info, dict(fixed))
    return Spec(
        task=info.name,
        space=space,
        fixed={name: _set(name, given[name]) for name in changed if name not in space},
        **{name: form[name] for name in state.SHARED if name != "name"},
        name=form["name"].strip(),
    )


def _set(name: str, value: Any) -> Any:
    return None if name == "d_ff" and value == 0 else value


def variation(name: str, how: str, text: str, rule: Rule) -> Choices | Range:
    """The values or the range of a row, each checked by the setting's own rule.

    Raises ValueError with value, rule and remedy.
    """
    label = label_of(name)
    if how != state.LIST:
        ends = [part for part in _ENDS.split(text.strip()) if part]
        if len(ends) != 2:
            raise ValueError(f"{label}: {text[:40]!r} is no range; write two numbers, such as 0.001 to 0.1")
        low, high = (_number(label, end, rule, whole=how == state.INT) for end in ends)
        return Range(how, low, high)  # type: ignore[arg-type]
    parts = [part for part in _PARTS.split(text.strip()) if part]
    if not parts:
        raise ValueError(f"{label}: no value is given; write some with commas between them, such as 1, 2, 4")
    return Choices(tuple(_set(name, _read(label, part, rule)) for part in parts))


def _read(label: str, text: str, rule: Rule) -> Any:
    try:
        return rule.taken(text)
    except ValueError:
        raise ValueError(f"{label}: {rule.refusal(text)}; change it, or leave it out") from None


def _number(label: str, text: str, rule: Rule, *, whole: bool) -> float:
    value = _read(label, text, rule)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{label} has no range: {text[:40]!r} is no number; list its values instead")
    if whole and not float(value).is_integer():
        raise ValueError(f"{label}: {text[:40]!r} is no whole number; choose a range of another kind")
    return value


def form_of_spec(info: TaskInfo, spec: Spec) -> tuple[dict[str, Any], dict[str, Any]]:
    """The settings and the form that ask for such a sweep, as far as the widgets can hold them."""
    declared = settings.declared(info)
    files = [option.name for option in info.options if option.file]
    known = {name: _shown(name, value) for name, value in spec.fixed.items() if name not in files}
    fixed = {
        name: value for name, value in known.items() if name in declared and declared[name].rule.fits(value)
    }
    form: dict[str, Any] = {}
    rows = [name for name in spec.space if name in state.varied(info)][: state.MOST_ROWS]
    for row, name in enumerate(rows, start=1):
        varied = spec.space[name]
        if isinstance(varied, Range):
            how, values = str(varied.kind), f"{varied.low:g} to {varied.high:g}"
        else:
            how, values = state.LIST, ", ".join(written(_shown(name, value)) for value in varied.values)
        form |= {f"vary{row}": name, f"how{row}": how, f"values{row}": values}
    form |= {"rows": max(1, len(rows)), "seeds": spec.seeds, "sampler": spec.sampler, "prune": spec.prune}
    return fixed, form | {"score": spec.score, "trials": 0 if spec.sampler == "grid" else spec.trials}


def _shown(name: str, value: Any) -> Any:
    return 0 if name == "d_ff" and value is None else value
