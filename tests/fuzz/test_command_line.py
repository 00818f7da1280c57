"""Runs whose files were changed, on the command line: read, or refused in a sentence; never a traceback."""

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import attention_lab.models.sweeps.command_line  # noqa: F401 (it adds its commands)
from attention_lab.models.runs.command_line import main
from tests.fuzz.odd import VALUES

SETTINGS = {
    "steps": 4, "validate_every": 2, "batch_size": 4, "held_out": 8, "n_layers": 1, "n_heads": 2, "d_model": 8
}  # fmt: skip
COMMANDS = ("report", "compare", "export", "resume", "further", "show", "list", "note")
MORE = {
    "report": ["--examples", "8"],
    "compare": ["whole"],
    "export": ["--out", "out"],
    "further": ["--steps", "6"],
    "note": ["--tag", "a"],
}
HOWS = ("empty", "cut", "garbled", "zeros", "list", "object", "deep", "folder", "link", "loop", "gone")


def command(*words: str) -> str:
    """Runs one command; the sentence with which it ended, "" where it did what was asked."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["training", *words])
        try:
            main()
        except SystemExit as ended:
            assert isinstance(ended.code, str), ended.code  # Python prints it, and the exit status is 1
            return ended.code
    return ""


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder of runs with a run that has all files that a run may have."""
    folder = tmp_path_factory.mktemp("line")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ATTENTION_LAB_RUNS", str(folder / "runs"))
        patch.chdir(folder)
        settings = [word for name, value in SETTINGS.items() for word in ("--set", f"{name}={value}")]
        assert command("run", "--task", "reverse", *settings, "--out", str(folder / "runs" / "whole")) == ""
        assert command("report", "whole") == ""
        yield folder


def changed(root: Path) -> Path:
    """A copy of the run that may be damaged, beside the whole one and no other."""
    for run in (root / "runs").iterdir():
        if run.is_dir() and run.name != "whole":
            shutil.rmtree(run)
    shutil.rmtree(root / "out", ignore_errors=True)
    return Path(shutil.copytree(root / "runs" / "whole", root / "runs" / "changed"))


def ends_in_a_sentence(name: str) -> None:
    words = [name] if name == "list" else [name, "changed", *MORE.get(name, [])]
    sentence = command(*words)
    assert sentence == "" or (sentence.startswith("error: ") and 10 < len(sentence) < 1_500)
    assert "Traceback" not in sentence


@given(data=st.data(), name=st.sampled_from(COMMANDS), how=st.sampled_from(HOWS))
def test_a_file_that_was_damaged(root: Path, data: st.DataObject, name: str, how: str) -> None:
    run = changed(root)
    files = sorted(path.relative_to(run) for path in run.rglob("*") if path.is_file())
    file = run / data.draw(st.sampled_from(files))
    content = file.read_bytes()
    at = data.draw(st.integers(0, max(0, len(content) - 1)))
    file.unlink()
    if how == "folder":
        file.mkdir()
    elif how in ("link", "loop"):
        file.symlink_to("/etc/hostname" if how == "link" else file)
    elif how != "gone":
        garbled = content[:at] + bytes([data.draw(st.integers(0, 255))]) + content[at + 1 :]
        file.write_bytes(
            {"empty": b"", "cut": content[:at], "garbled": garbled, "zeros": bytes(len(content)),
             "list": b"[]", "object": b"{}", "deep": b"[" * 5_000}[how]
        )  # fmt: skip
    ends_in_a_sentence(name)


def places(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to all parts of a JSON value."""
    found = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in found:
        yield (*at, key)
        yield from places(part, (*at, key))


OTHERS = VALUES.filter(lambda value: not isinstance(value, bytes)).map(
    lambda value: json.dumps(value, default=str)
)
FOREIGN = st.one_of(
    st.sampled_from(["null", "-1", "1e400", "NaN", "[]", "{}", "true", "[[1]]", '"x"', "1" * 30]), OTHERS
)
IN_FILES = ("config.json", "status.json", "report.json", "probe.json", "metrics.jsonl", "samples.jsonl")


def put(file: Path, place: float, value: str) -> tuple[Any, ...]:
    """Puts a value into the last line of JSON, at a share of all its places; returns which that was."""
    text = file.read_text()
    *lines, last = text.splitlines() if file.suffix == ".jsonl" else [text]
    whole = json.loads(last)
    all_places = list(places(whole))
    *way, key = all_places[int(place * (len(all_places) - 1))]
    part = whole
    for step in way:
        part = part[step]
    part[key] = "HERE"
    raw = json.dumps(whole).replace('"HERE"', value)
    file.write_text("\n".join([*lines, raw]) + "\n")
    return (*way, key)


@given(file=st.sampled_from(IN_FILES), name=st.sampled_from(COMMANDS), place=st.floats(0, 1), value=FOREIGN)
@example(file="config.json", name="list", place=0.0625, value="null")
@example(file="config.json", name="list", place=0.578125, value="null")
@example(file="status.json", name="compare", place=0.9375, value="[]")
def test_a_value_of_another_kind(root: Path, file: str, name: str, place: float, value: str) -> None:
    run = changed(root)
    put(run / file, place, value)
    ends_in_a_sentence(name)


def test_records_of_another_shape_are_left_out(root: Path) -> None:
    file = changed(root) / "metrics.jsonl"
    whole = file.read_text().splitlines()
    last = json.loads(whole[-1])
    odd = [
        last | {entry: value}
        for entry in ("validation", "norms")
        for value in (None, 7, "x", [1], {"a": "b"}, {"a": [1]}, {"a": [1, "b"]})
    ]
    file.write_text("\n".join([*whole, *map(json.dumps, odd)]) + "\n")
    for name in ("export", "show", "resume"):
        assert command(name, "changed", *MORE.get(name, [])) == ""
    assert len((root / "out" / "metrics.csv").read_text().splitlines()) == 1 + len(whole)
