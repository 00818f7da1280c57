import json
from pathlib import Path

from pages.shared.training.history import History, latest


def line(step: int, **more: object) -> str:
    return json.dumps({"step": step, **more}) + "\n"


def test_a_growing_file_is_read_on_from_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    history = History(path)
    assert history.entries() == []
    path.write_text(line(1) + line(2)[:5])
    assert history.entries() == [{"step": 1}]
    with path.open("a") as file:
        file.write(line(2)[5:] + line(3, loss=0.5))
    assert history.entries() == [{"step": 1}, {"step": 2}, {"step": 3, "loss": 0.5}]
    assert history._read == path.stat().st_size


def test_a_file_that_was_replaced_or_cut_is_read_anew(tmp_path: Path) -> None:
    path, other = tmp_path / "metrics.jsonl", tmp_path / "new"
    history = History(path)
    path.write_text(line(1) + line(2) + line(3))
    assert len(history.entries()) == 3
    other.write_text(line(1) + line(2) + line(4) + line(5))
    other.replace(path)
    assert [entry["step"] for entry in history.entries()] == [1, 2, 4, 5]
    path.write_text(line(1))
    assert history.entries() == [{"step": 1}]
    path.unlink()
    assert history.entries() == []


def test_lines_that_are_no_records_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    path.write_bytes(b'\xff\xfe\n[1]\n{"step": true}\n{"step": -1}\n{"loss": 1}\n\n' + line(7).encode())
    assert History(path).entries() == [{"step": 7}]


def test_a_list_reads_the_end_of_a_long_file_only(tmp_path: Path) -> None:
    path = tmp_path / "metrics.jsonl"
    assert latest(path) == []
    path.write_text("".join(line(step, filler="x" * 100) for step in range(3_000)))
    found = latest(path)
    assert found[-1]["step"] == 2_999
    assert 900 < len(found) < 1_300
    assert latest(path) is found
    with path.open("a") as file:
        file.write(line(3_000))
    assert latest(path)[-1]["step"] == 3_000
