"""What a file of limits may say, and what is said of one that it may not."""

import os
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, asdict
from pathlib import Path

import pytest

from attention_lab.models.limits import FILE, declared, in_force, read, table
from tests.limits import SetLimits, write_limits

ROOT = Path(__file__).parents[2]


def test_the_packaged_limits_keep_their_own_rules() -> None:
    found = read()
    assert (found.document_tokens, found.queue_length, found.live_runs) == (32_768, 8, 2)
    assert (found.read_only, found.kiosk, found.models) == (False, "", ())
    for name, rule in declared().items():
        assert rule["reason"].endswith("."), name
        low, high = rule.get("bounds", (0, 0))
        assert low <= (rule["default"] if "bounds" in rule else 0) <= high, name
    with pytest.raises(FrozenInstanceError):
        found.cpu_jobs = 1


def test_each_limit_is_used_and_each_that_is_used_is_declared() -> None:
    """Types do not tell: the class of the limits is made from the file."""
    folders = (ROOT / name for name in ("models", "pages", "tools"))
    code = "".join(path.read_text() for folder in folders for path in folder.rglob("*.py"))
    called = set(re.findall(r"in_force\(\)\.(\w+)", code)) - {"cache_clear"}
    assert called <= set(declared())
    assert all(f".{name}" in code for name in declared())


def test_a_persons_own_file_changes_what_it_names_and_nothing_else(tmp_path: Path) -> None:
    own = write_limits(
        tmp_path / "class.toml", document_tokens=512, read_only=True, kiosk="masks", models=["translator"]
    )
    changed = {"document_tokens": 512, "read_only": True, "kiosk": "masks", "models": ("translator",)}
    assert asdict(read(own)) == asdict(read()) | changed


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("cpu_job = 9", "there is no limit 'cpu_job': correct or remove its line; did you mean cpu_jobs"),
        ("zzzz = 9", "there is no limit 'zzzz': correct or remove its line; known are read_only, kiosk"),
        ("cpu_jobs = 0", "cpu_jobs=0 is not within 1 to 256; try cpu_jobs = 1"),
        ("runs_gb = 100_001", "runs_gb=100,001 is not within 1 to 100,000; try runs_gb = 4"),
        ('cpu_jobs = "8"', "cpu_jobs='8' is no whole number; try cpu_jobs = 1"),
        ("cpu_jobs = true", "cpu_jobs=True is no whole number; try cpu_jobs = 1"),
        ("read_only = 1", "read_only=1 is neither true nor false; try read_only = false"),
        ('kiosk = "mask"', "kiosk='mask' is unknown; choose one of explore, long texts"),
        ('models = "translator"', "models='translator' is no list of names; try models = [\"translator\"]"),
        ('models = ["sparse"]', "models=['sparse'] lacks 'translator', with which every page opens; add it"),
        ("[cpu_jobs]\ndefault = 3", "cpu_jobs={'default': 3} is no whole number; try cpu_jobs = 1"),
        ("cpu_jobs 8", "is no TOML: Expected '=' after a key"),
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
    with pytest.raises(ValueError, match=r"large\.toml is larger than 50 kB: it is no file of limits"):
        read(tmp_path / "large.toml")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            f"cpu_jobs = {'9' * 5_000}",
            " is no TOML: Exceeds the limit (4300 digits) for integer string conver",
        ),
        (
            f"cpu_jobs = {'9' * 4_000}",
            f": cpu_jobs={'9' * 60}… (4,000 characters) is not within 1 to 256; try ",
        ),
        (
            f"cpu_jobs = 0x{'f' * 9_000}",
            ": cpu_jobs=a number of thousands of digits is not within 1 to 256; try",
        ),
        (f"kiosk = 0x{'f' * 9_000}", ": kiosk=a number of thousands of digits is unknown; choose"),
        (f"read_only = [0x{'f' * 9_000}]", ": read_only=a number of thousands of digits is neither true nor"),
        ("cpu_jobs = nan", ": cpu_jobs=nan is no whole number; try cpu_jobs = 1"),
        (
            "cpu_jobs = 1979-05-27",
            ": cpu_jobs=datetime.date(1979, 5, 27) is no whole number; try cpu_jobs = 1",
        ),
        ("cpu_jobs = " + "[" * 40_000, " is no TOML: it is nested too deep; see models/limits.toml"),
        ("cpu_jobs = " + "{a=" * 5_000, " is no TOML: it is nested too deep; see models/limits.toml"),
        ("[cpu_jobs." + "a." * 2_000 + "b]", ": cpu_jobs=a dict that is nested too deep is no whole number"),
        ("a" * 40_000 + " = 1", "… (40,002 characters): correct or remove its line; known are read_only"),
        (f"kiosk = '{'a' * 40_000}'", f": kiosk='{'a' * 59}… (40,002 characters) is unknown; choose one of"),
        (f"models = {['a' * 10_000] * 4}", "… (40,016 characters) lacks 'translator', with which every page"),
        ("cpu_jobs = 1\ncpu_jobs = 2", " is no TOML: Cannot overwrite a value (at end of document)"),
        ("cpu_jobs = 8\x00", " is no TOML: "),
        ("cpu_jobs = \u0668", " is no TOML: Invalid value (at line 1, column 12)"),
    ],
    ids=lambda value: value[:20],
)
def test_a_hostile_or_clumsy_file_is_refused_in_a_short_sentence(
    tmp_path: Path, content: str, sentence: str
) -> None:
    own = tmp_path / "class.toml"
    own.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError) as refused:
        read(own)
    assert str(refused.value).startswith(str(own)) and sentence in str(refused.value)
    assert len(str(refused.value)) < len(str(own)) + 1_200


def test_a_file_that_never_ends_or_has_no_home_is_refused(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/zero"), tmp_path):
        with pytest.raises(ValueError, match=r"is no file; name a file of limits, or none$"):
            read(path)
    with pytest.raises(ValueError, match=r"~nobody-here/a.toml cannot be read \(Could not determine home"):
        read(Path("~nobody-here/a.toml"))
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(ValueError, match=r"cannot be read|is no file"):
        read(tmp_path / "loop")
    (tmp_path / "mark.toml").write_bytes(b"\xef\xbb\xbfcpu_jobs = 3\r\n")  # as some editors save it
    assert read(tmp_path / "mark.toml").cpu_jobs == 3


def test_the_limits_are_printed_with_default_and_reason(set_limits: SetLimits) -> None:
    set_limits(cpu_jobs=3, kiosk="masks")
    lines = table().splitlines()
    assert lines[0].split() == ["limit", "in", "force", "default", "reason"]
    assert len(lines) == 1 + len(declared())
    [jobs] = [line for line in lines if line.startswith("* cpu_jobs")]
    assert jobs.split()[2:4] == ["3", "1"] and jobs.endswith("twice as long each.")
    [kiosk] = [line for line in lines if line.startswith("* kiosk")]
    assert kiosk.split()[2:4] == ["masks", "–"]
    assert in_force().cpu_jobs == 3


def test_a_wrong_file_ends_the_program_with_its_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FILE, str(write_limits(tmp_path / "class.toml", cpu_job=3)))
    command = [sys.executable, "-m", "attention_lab.models.limits"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert ended.returncode == 1
    expected = "there is no limit 'cpu_job': correct or remove its line; did you mean cpu_jobs?"
    assert ended.stderr == f"{tmp_path / 'class.toml'}: {expected}\n"
