"""The commands that compare, show, note and train further: what they print, write and refuse."""

import json
import shutil

import pytest

from models.runs import command_line
from models.runs.folder import RunFolder, find_run
from models.runs.notes import checked_notes, checked_tags, matches
from models.runs.status import Status, write_status
from tests.models.commands import caller

SMALL = ["n_layers=1", "n_heads=2", "d_model=16", "batch_size=4", "threads=1", "held_out=8", "device=cpu"]


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Runs a command and returns what it printed."""
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    return caller(monkeypatch, capsys)


@pytest.fixture
def base(call) -> RunFolder:
    tagged = ["--tag", "first, small", "--note", "to begin with"]
    call("run", "--task", "reverse", "--name", "base", *tagged, settings=[*SMALL, "steps=3"])
    return find_run("base")


def like(base: RunFolder, name: str, seed: int, score: float, rate: float) -> None:
    """A finished run that was not trained: the same config with another seed, rate and score."""
    path = base.path.with_name(name)
    shutil.copytree(base.path, path)
    said = base.description()
    said |= {"name": name, "training": {**said["training"], "seed": seed, "learning_rate": rate}}
    (path / "config.json").write_text(json.dumps(said))
    line = {"step": 3, "validation": {"loss": 1 - score, "exact match": score}}
    (path / "metrics.jsonl").write_text(json.dumps(line) + "\n")


def test_a_run_is_noted_listed_shown_and_found(call, base):
    said = base.description()
    assert (said["tags"], said["notes"]) == (["first", "small"], "to begin with")
    header, line = call("list").splitlines()
    assert header.endswith("TAGS") and line.endswith("first, small")
    assert call("list", "--ids", "--filter", "SMALL reverse finished") == f"{base.id}\n"
    assert "no runs yet" in call("list", "--filter", "sort")
    call("note", "base", "--name", "begin", "--tag", "kept", "--note", "")
    said = base.description()
    assert (said["name"], said["tags"], said["notes"]) == ("begin", ["kept"], "")
    shown = call("show", "begin")
    assert shown.startswith(f"begin ({base.id}): finished, step 3 of 3\ntags: kept\n")
    assert "exact match, held out at step 3: 0" in shown and "learning_rate" in shown


def test_runs_are_compared_as_on_the_page(call, base):
    for seed, (better, worse) in enumerate(((0.90, 0.50), (0.93, 0.55), (0.88, 0.45))):
        like(base, f"slow-{seed}", seed, worse, 0.1)
        like(base, f"fast-{seed}", seed, better, 0.2)
    names = [f"{name}-{seed}" for name in ("slow", "fast") for seed in range(3)]
    first, *rest = call("compare", *names).splitlines()
    assert first == "“fast-0 and 2 more” is better than the other."
    printed = "\n".join(rest)
    assert "paired t test, n = 3 pairs of seeds, p = 0.00" in printed
    assert "An interval is of the mean over 3 seeds or more that are not all alike" in printed
    assert "learning_rate  0.1" in printed and "0.903 ± 0.025" in printed
    assert "No difference is shown" not in call("compare", *names, "--score", "loss")
    with pytest.raises(
        SystemExit, match=r"error: score='BLEU' is none of these runs'; they have exact match"
    ):
        call("compare", *names, "--score", "BLEU")
    name, uploads = "ab" * 32 + ".csv", {"slow-0": "spring.csv", "fast-0": "autumn.csv"}
    for run, own in uploads.items():
        said = find_run(run).description()
        kept = name if run == "slow-0" else name.replace("a", "c")
        said["task"]["options"] |= {"file": f"/kept/{kept}"}
        said |= {"files": {"file": {"name": own}}}
        (find_run(run).path / "config.json").write_text(json.dumps(said))
    told = call("compare", *uploads)
    assert "spring.csv" in told and "autumn.csv" in told and name[:16] not in told
    assert "spring.csv" in call("show", "slow-0")


def test_a_run_is_trained_further_with_other_settings(call, base):
    changes = ["learning_rate=1e-4", "batch_size=2"]
    printed = call("further", "base", "--steps", 5, "--schedule", "anew", "--name", "on", settings=changes)
    assert "held out at step 5" in printed
    on = find_run("on")
    assert on.config().training.schedule_from == 3 and on.config().training.batch_size == 2
    assert [line["step"] for line in on.metrics()] == [1, 2, 3, 4, 5]
    listed = call("list").splitlines()
    assert listed[0].endswith("TAGS          CHANGED") and listed[1].endswith("at 3")
    changed = "learning_rate 0.003 → 0.0001, the schedule starts anew"
    assert f"trained further from {base.id}, from step 3: steps 3 → 5, batch_size 4 → 2, {changed}" in call(
        "show", "on"
    )


def test_what_cannot_be_trained_further_is_said_and_leaves_nothing(call, base, tmp_path, monkeypatch):
    for settings, steps, said in (
        (["n_heads=4"], 9, "n_heads belongs to the weights and cannot change"),
        (["learning_rate=99"], 9, "learning_rate=99 is not within"),
        (["rate=1"], 9, "'rate' is nothing that can be set"),
        ([], 3, "steps=3 are done already: 'base' has 3; give more"),
    ):
        with pytest.raises(SystemExit, match=said):
            call("further", "base", "--steps", steps, settings=settings)
    (base.path / "checkpoint.safetensors").unlink()
    with pytest.raises(SystemExit, match="'base' has no checkpoint to go on from"):
        call("further", "base", "--steps", 9)
    write_status(base.path, Status(state="queued", queued_at=9e9, heartbeat=9e9))
    with pytest.raises(SystemExit, match="run 'base' is queued; wait until it has ended"):
        call("further", "base", "--steps", 9)
    assert len(list((tmp_path / "runs").glob("*/config.json"))) == 1
    assert "further" in (command_line.__doc__ or "")


def test_tags_and_notes_are_bounded():
    assert checked_tags([" a  b ,c", "c", ""]) == ["a b", "c"]
    with pytest.raises(ValueError, match="has 31 characters; give at most 30"):
        checked_tags(["x" * 31])
    with pytest.raises(ValueError, match="9 tags are too many for one run; give at most 8"):
        checked_tags([f"tag {at}" for at in range(9)])
    with pytest.raises(ValueError, match="the notes have 2,001 characters"):
        checked_notes("x" * 2001)


def test_a_filter_reads_damaged_configs_too():
    assert matches("mine", {"name": "Mine", "task": 3, "tags": "no list", "notes": 4}, "failed")
    assert matches("seed fail", {"task": {"name": "sort"}, "tags": ["seed 1", 4]}, "failed")
    assert not matches("copy", {"name": "x"}, "failed")
