"""Every regular expression of the product reads the worst text for it in time that grows with its length.

The worst texts are made from the expression: whatever it repeats without end is repeated, after what has to
stand before it, and what follows is wrong. So a new expression is tried without an entry here.
"""

import ast
import importlib
import re
import time
from collections.abc import Callable, Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
METHODS = ("match", "search", "fullmatch", "sub", "split", "findall", "finditer")
LENGTHS = {400: 0.03, 5_000: 0.06, 100_000: 1.0}
"""The seconds of so many characters: the first catches what is cubic, the second what is quadratic."""
OWN = {
    "viz_core/viewer/program.py": "the app's own JavaScript",
    "viz_core/paper/bundle.py": "references of the app",
    "pages/lab/lesson.py": "axes in texts.toml",
    "pages/shared/browser/requests.py": "Streamlit's own document",
}
"""Files whose expressions read nothing of a visitor, with what they read instead."""
ENDS = ("\0", "\n", " x", '"', "")


class Use(NamedTuple):
    file: str
    pattern: re.Pattern[Any]
    method: str


def example(items: Any) -> str:
    """The shortest text that a part of an expression takes."""
    return "".join(_one(code, argument) for code, argument in items)


def _one(code: Any, argument: Any) -> str:
    match str(code):
        case "LITERAL":
            return chr(argument)
        case "NOT_LITERAL":
            return "a" if argument != ord("a") else "b"
        case "ANY":
            return "a"
        case "IN":
            return _member(argument)
        case "BRANCH":
            return example(argument[1][0])
        case "SUBPATTERN":
            return example(argument[3])
        case "ATOMIC_GROUP":
            return example(argument)
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            return argument[0] * example(argument[2])
        case _:
            return ""


def _member(argument: Any) -> str:
    accepts = re.compile(_written(argument))
    return next((each for each in "a0 -_.,\"'\n<>é\u0301{}[]:/\x01" if accepts.fullmatch(each)), "a")


def _written(argument: Any) -> str:
    categories = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}
    parts = []
    for code, value in argument:
        match str(code):
            case "NEGATE":
                parts.append("^")
            case "LITERAL":
                parts.append(re.escape(chr(value)))
            case "RANGE":
                parts.append(f"{re.escape(chr(value[0]))}-{re.escape(chr(value[1]))}")
            case "CATEGORY":
                name = str(value).removeprefix("CATEGORY_")
                known = categories[name.removeprefix("NOT_")]
                parts.append(known.upper() if name.startswith("NOT_") else known)
    return f"[{''.join(parts)}]"


def endless(items: Any, before: str = "") -> Iterator[tuple[str, str]]:
    """What stands before each endless repetition, and what is repeated."""
    for code, argument in items:
        name = str(code)
        if name.endswith("_REPEAT"):
            if argument[1] > 1_000:
                yield before, example(argument[2]) or "a"
            yield from endless(argument[2], before)
        elif name == "SUBPATTERN":
            yield from endless(argument[3], before)
        elif name == "ATOMIC_GROUP":
            yield from endless(argument, before)
        elif name in ("ASSERT", "ASSERT_NOT"):
            yield from endless(argument[1], before)
        elif name == "BRANCH":
            for branch in argument[1]:
                yield from endless(branch, before)
        before += _one(code, argument)


def worst(pattern: re.Pattern[Any], length: int) -> Iterator[Any]:
    tree = re._parser.parse(pattern.pattern, pattern.flags)  # type: ignore[attr-defined]
    whole = example(tree)
    texts = {
        before + unit * (length // len(unit)) + end for (before, unit), end in product(endless(tree), ENDS)
    }
    texts |= {each * (length // len(each)) for each in (whole, whole[:-1], " ", "a", "0") if each}
    for text in texts:
        yield text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text


@cache
def uses() -> list[Use]:
    """Every expression of the product, compiled by a module or in a call, with how it is used."""
    found: dict[tuple[str, str, str, int], Use] = {}
    files = [
        ROOT / "app.py",
        *(each for name in ("pages", "models", "viz_core") for each in sorted((ROOT / name).rglob("*.py"))),
    ]
    texts = {file: file.read_text("utf-8") for file in files}
    everything = "\n".join(texts.values())

    def add(file: str, pattern: re.Pattern[Any], methods: list[str]) -> None:
        for method in methods:
            found[file, str(pattern.pattern), method, pattern.flags] = Use(file, pattern, method)

    for path, text in texts.items():
        file = path.relative_to(ROOT).as_posix()
        if not re.search(r"\bre\.\w+\(", text) or file in OWN or path.name == "app.py":
            continue
        module = importlib.import_module(
            "attention_lab." + file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        )
        for name, value in vars(module).items():
            for pattern in _patterns(value):
                used = re.findall(rf"\b{name}\.({'|'.join(METHODS)})\(", everything)
                add(file, pattern, sorted(set(used)) or ["search"])
        for call in ast.walk(ast.parse(text)):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and isinstance(call.func.value, ast.Name)
                and call.func.value.id == "re"
                and call.func.attr in METHODS
                and isinstance(call.args[0], ast.Constant)
            ):
                flags = [
                    ast.unparse(each)
                    for each in call.args[3 if call.func.attr == "sub" else 2 :]
                    if "re." in ast.unparse(each)
                ]
                add(
                    file,
                    re.compile(call.args[0].value, eval(flags[0], {"re": re}) if flags else 0),
                    [call.func.attr],
                )
    return list(found.values())


def _patterns(value: Any) -> list[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        return [value]
    if isinstance(value, tuple | list):
        return [each for part in value for each in _patterns(part)]
    return []


def _text(use: Use) -> str:
    return str(use.pattern.pattern)


def seconds(act: Callable[[], Any]) -> float:
    begin = time.process_time()
    act()
    return time.process_time() - begin


def _reads(use: Use, text: Any) -> Callable[[], Any]:
    method = getattr(use.pattern, use.method)
    if use.method == "sub":
        return lambda: method(type(text)(), text)
    return lambda: [*method(text)] if use.method == "finditer" else method(text)


@pytest.mark.parametrize(
    "use", [pytest.param(each, id=f"{each.file}-{each.method}-{_text(each)[:40]}") for each in uses()]
)
def test_no_text_makes_an_expression_slow(use: Use) -> None:
    for length, most in LENGTHS.items():
        for text in worst(use.pattern, length):
            needed = min(seconds(_reads(use, text)) for _ in range(2 if length < 10_000 else 1))
            assert needed < most, (
                f"{needed:.2f} s for {len(text):,} characters: {text[:40]!r} … {text[-5:]!r}"
            )
