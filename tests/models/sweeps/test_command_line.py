"""The commands of sweeps: what they print, how a paused sweep goes on, and what they refuse."""

import pytest

from attention_lab.models.runs import jobs, queue
from attention_lab.models.runs.folder import list_runs
from attention_lab.models.runs.owners import MACHINE
from attention_lab.models.sweeps import Choices, Spec, create, driver
from attention_lab.models.sweeps.control import list_shipped
from tests.models.commands import caller
from tests.models.sweeps.trained import AtOnce

SMALL = ["n_layers=1", "d_model=12", "batch_size=4", "held_out=8", "device=cpu", "threads=1", "steps=20"]


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Runs a command and returns what it printed."""
    root = tmp_path / "runs"
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(root))
    monkeypatch.setattr("attention_lab.models.sweeps.driver.TURN_SECONDS", 0.0)
    monkeypatch.setenv("ATTENTION_LAB_SERVING", "")  # the driver names itself there; forgotten afterwards
    used = AtOnce(root, lambda said: {10: {"loss": 2.0}, 20: {"loss": said["training"]["learning_rate"]}})
    monkeypatch.setattr(jobs, "backend", lambda: used)
    monkeypatch.setattr(jobs, "launch", lambda command, folder: driver.main(command[3:]))
    monkeypatch.setattr("attention_lab.models.sweeps.command_line.FOLLOW_SECONDS", 0.0)
    monkeypatch.setenv("ATTENTION_LAB_SLOTS", "")
    return caller(monkeypatch, capsys)


def test_a_sweep_is_run_listed_shown_and_deleted(call):
    space = ["learning_rate=0.003,0.001,0.002", "n_heads=1,5"]
    words = ("sweep", "--task", "reverse", "--seeds", 2, "--score", "loss", "--name", "rates")
    printed = call(*words, settings=[*SMALL, *space])
    assert "3 settings × 2 seeds = 6 runs; left out, as they make no model: learning_rate=0.003" in printed
    assert "minimize 'loss', the mean over the seeds" in printed
    assert ["1", "0.001", "1", "finished", "0.001"] in [line.split()[:5] for line in printed.splitlines()]
    assert len(list_runs()) == 6
    listed = call("sweeps").splitlines()
    assert listed[1].split()[:6] == ["rates", "reverse", "finished", "3", "of", "3"]
    shown = call("sweep-show", "rates").splitlines()
    assert [line.split()[:4] for line in shown[1:4]] == [
        ["1", "0.001", "1", "finished"], ["2", "0.002", "1", "finished"], ["0", "0.003", "1", "finished"]
    ]  # fmt: skip
    with pytest.raises(SystemExit, match="sweep 'rates' has tried its 3 settings"):
        call("sweep", "--resume", "rates")
    assert call("sweep-delete", "rates").endswith("deleted sweep rates; its runs stay\n")
    assert len(list_runs()) == 6


def test_a_command_may_ask_for_more_slots_than_the_limit(call, monkeypatch):
    monkeypatch.setattr(driver.Driver, "run", lambda self: driver.Ending("paused", str(self._n_slots)))
    assert queue.n_slots("cpu") == 1
    printed = call("sweep", "--task", "reverse", "--slots", 3, settings=["n_heads=1,2"])
    assert "paused after 0 s: 3" in printed and "go on with: " in printed
    assert queue.n_slots("cpu") == 3
    monkeypatch.setenv(queue.SLOTS, "many")
    assert queue.n_slots("cpu") == 1


def test_a_sweep_that_is_not_done_says_how_it_goes_on(call):
    spec = Spec(task="reverse", fixed={"d_model": 12}, space={"n_heads": Choices((1, 2))}, name="half")
    create(spec, by=MACHINE)
    assert call("sweep-show", "half").endswith(
        "go on with: python -m attention_lab.models.training sweep --resume half\n"
    )
    assert "--resume" not in call("sweep-show", list_shipped()[0].name)


@pytest.mark.parametrize(
    ("words", "settings", "said"),
    [
        (["sweep"], ["n_heads=1,2"], "a sweep needs a task; give --task"),
        (["sweep", "--task", "revers"], ["n_heads=1,2"], "task='revers' is unknown; did you mean reverse"),
        (["sweep", "--task", "reverse"], ["n_heads=1"], "nothing varies; give a setting several values"),
        (["sweep", "--task", "reverse", "--resume", "x"], [], "leave out --task and --set"),
        (["sweep", "--resume", "x"], [], "there is no sweep 'x'; the latest are: none"),
        (["sweep", "--shipped", "x"], [], "no shipped sweep is named 'x'"),
        (["sweep-show", "../x"], [], "there is no sweep '../x'"),
    ],
)
def test_bad_commands_end_with_one_sentence(call, words, settings, said):
    with pytest.raises(SystemExit) as refusal:
        call(*words, settings=settings)
    assert said in str(refusal.value) and str(refusal.value).startswith("error: ")
    assert list_runs() == []


def test_what_ships_is_whole():
    for shipped in list_shipped():
        spec, trials = shipped.spec, shipped.trials()
        assert spec.name == shipped.name == shipped.path.name
        assert len(trials) == spec.trials
        finished = [trial for trial in trials if trial.state == "finished"]
        assert finished and all(trial.n == spec.seeds and not trial.runs for trial in finished)
        for trial in finished:
            assert trial.value == pytest.approx(sum(trial.values.values()) / trial.n)
        assert shipped.status().sentence and shipped.status().state == "finished"
