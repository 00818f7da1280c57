"""Files are written whole and read bounded; every refusal says what to do."""

import re
from dataclasses import dataclass

import pytest

from attention_lab.models import files
from attention_lab.models.files import (
    FileError,
    WriteError,
    read_bounded,
    read_json,
    read_json_if_any,
    write_json,
    write_whole,
)


def test_files_are_whole_or_as_they_were(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, b"old")

    def refuse(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("attention_lab.models.files.os.fsync", refuse)
    with pytest.raises(WriteError, match=r"file could not be written to .*: the disk is full") as e:
        write_whole(path, b"new", sync=True)
    assert isinstance(e.value, OSError)
    assert path.read_bytes() == b"old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]
    with pytest.raises(WriteError, match="could not be written to"):
        write_whole(tmp_path / "nowhere" / "file", b"")


def test_json_comes_back_and_missing_files_are_said_or_empty(tmp_path):
    path = tmp_path / "some.json"
    assert read_json_if_any(path) == {}
    with pytest.raises(FileError, match=r"some\.json' does not exist or is no file, but holds JSON; check"):
        read_json(path)
    write_json(path, {"word": "été", "version": 1})
    assert path.read_text(encoding="utf-8") == '{\n "word": "été",\n "version": 1\n}\n'
    assert read_json(path, newest=1) == read_json_if_any(path) == {"word": "été", "version": 1}


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("", "is no JSON; restore it"),
        ("[" * 200_000, "is no JSON"),
        ("[1]", "holds a list, not a JSON object; restore it"),
        ("{}", "is of version None, but this program reads up to 1; use a newer one"),
        ('{"version": 2}', "is of version 2"),
        ('{"version": true}', "is of version True"),
    ],
)
def test_what_is_no_json_of_a_known_version_is_refused(tmp_path, content, text):
    (tmp_path / "some.json").write_text(content)
    with pytest.raises(FileError, match=text):
        read_json(tmp_path / "some.json", newest=1)


def test_nothing_is_read_past_its_limit(tmp_path, monkeypatch):
    path = tmp_path / "some.json"
    path.write_text("{}" + " " * 9)
    assert read_bounded(path, 11, "JSON") == b"{}" + b" " * 9
    monkeypatch.setattr(files, "MAX_JSON_BYTES", 10)
    for read in (read_json, read_json_if_any, files.read_lines):
        with pytest.raises(FileError, match="is larger than the 10 bytes allowed for JSON; choose a smaller"):
            read(path)


@dataclass(frozen=True)
class Words:
    names: tuple[str, ...]
    counts: dict[str, int]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ('names = ["a"]\ncounts = { a = 1, b = "x" }', "counts.b\n  Input should be a valid integer"),
        ('names = ["a"]\ncounts = {}\nnmaes = []', "nmaes\n  Unexpected keyword argument"),
        ('names = ["a"]', "counts\n  Field required"),
        ("names = [", "is not as Words declares it: Invalid value"),
    ],
)
def test_data_of_the_program_are_as_their_class_declares(tmp_path, content, sentence):
    path = tmp_path / "words.toml"
    path.write_text('names = ["a", "b"]\ncounts = { a = 1 }')
    assert files.read_toml(path, Words) == Words(("a", "b"), {"a": 1})
    path.write_text(content)
    with pytest.raises(FileError, match=re.escape(sentence)):
        files.read_toml(path, Words)
