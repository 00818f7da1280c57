"""What a file of limits may say, and what is said of one that it may not."""

import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import pytest

from models.limits import FILE, declared, in_force, read
from tests.limits import SetLimits, write_limits
from tools import limits as printing

ROOT = Path(__file__).parents[2]


def test_the_packaged_limits_keep_their_own_rules() -> None:
    found = read()
    assert (found.text_characters, found.queue_length, found.live_runs) == (20_000, 8, 2)
    assert (found.read_only, found.kiosk, found.models) == (False, "", ())
    for name, rule in declared().items():
        assert rule["reason"].endswith("."), name
        low, high = rule.get("bounds", (0, 0))
        assert low <= (rule["default"] if "bounds" in rule else 0) <= high, name
    with pytest.raises(FrozenInstanceError):
        found.threads = 1


def test_a_persons_own_file_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    own = write_limits(
        tmp_path / "class.toml", text_characters=500, read_only=True, kiosk="masks", models=["translator"]
    )
    changed = {"text_characters": 500, "read_only": True, "kiosk": "masks", "models": ("translator",)}
    assert read(own) == replace(read(), **changed)


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("text_character = 9", "there is no limit 'text_character'; did you mean text_characters"),
        ("zzzz = 9", "there is no limit 'zzzz'; known are read_only, kiosk, models"),
        ("threads = 0", "threads=0 is not within 1 to 4,096; try threads = 64"),
        ("runs_gb = 100_001", "runs_gb=100,001 is not within 1 to 100,000; try runs_gb = 4"),
        ('threads = "8"', "threads='8' is no whole number; try threads = 64"),
        ("threads = 1.5", "threads=1.5 is no whole number; try threads = 64"),
        ("threads = true", "threads=True is no whole number; try threads = 64"),
        ("read_only = 1", "read_only=1 is neither true nor false; try read_only = false"),
        ('kiosk = "mask"', "kiosk='mask' is unknown; did you mean masks"),
        ("kiosk = 3", "kiosk=3 is no text; try kiosk = ''"),
        ('models = "translator"', "models='translator' is no list of names; try models = [\"translator\"]"),
        ('models = ["sparse"]', "models=['sparse'] lacks 'translator', with which every page opens; add it"),
        ("[threads]\ndefault = 3", "threads={'default': 3} is no whole number; try threads = 64"),
        ("threads 8", "is no TOML: Expected '=' after a key"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_a_remedy(tmp_path: Path, line: str, sentence: str) -> None:
    own = tmp_path / "class.toml"
    own.write_text(line + "\n")
    with pytest.raises(ValueError) as refused:
        read(own)
    assert sentence in str(refused.value)
    assert str(refused.value).startswith(str(own))


def test_a_file_that_is_missing_or_no_text_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"none\.toml cannot be read \(No such file or directory\); name a"):
        read(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"bytes\.toml is no TOML"):
        read(tmp_path / "bytes.toml")
    with (tmp_path / "large.toml").open("wb") as file:
        file.truncate(2_000_000)
    with pytest.raises(ValueError, match=r"large\.toml is larger than 1\.0 MB: it is no file of limits"):
        read(tmp_path / "large.toml")


def test_the_limits_are_printed_with_default_and_reason(set_limits: SetLimits) -> None:
    set_limits(threads=3, kiosk="masks")
    lines = printing.table().splitlines()
    assert lines[0].split() == ["limit", "in", "force", "default", "reason"]
    assert len(lines) == 1 + len(declared())
    [threads] = [line for line in lines if line.startswith("* threads")]
    assert threads.split()[2:4] == ["3", "64"] and threads.endswith("makes it slower.")
    [kiosk] = [line for line in lines if line.startswith("* kiosk")]
    assert kiosk.split()[2:4] == ["masks", "–"]
    assert in_force().threads == 3


def test_a_wrong_file_ends_the_program_with_its_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FILE, str(write_limits(tmp_path / "class.toml", thread=3)))
    command = [sys.executable, "-m", "tools.limits"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    assert ended.stderr == (f"{tmp_path / 'class.toml'}: there is no limit 'thread'; did you mean threads?\n")
