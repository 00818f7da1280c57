"""Sweeps at work: values and spreads of trials, what is skipped, pruned, failed, taken over, and refused."""

import math
import statistics
from dataclasses import replace

import optuna
import pytest
from filelock import FileLock

from attention_lab.models import sweeps
from attention_lab.models.files import WriteError
from attention_lab.models.runs import jobs
from attention_lab.models.runs.folder import CUT_SHORT, Cause, Status, list_runs, write_status
from attention_lab.models.runs.owners import MACHINE, Visitor
from attention_lab.models.runs.queue import NoRoom
from attention_lab.models.runs.ranking import groups
from attention_lab.models.runs.results import result_of
from attention_lab.models.runs.worker import Ending, Watch
from attention_lab.models.sweeps import Choices, Range, Spec, optuna_study
from attention_lab.models.sweeps.driver import Driver, main
from attention_lab.models.sweeps.sweep import trial_of
from attention_lab.models.zoo.folders import runs_root
from tests.models.sweeps.trained import AtOnce

SMALL = {
    "n_layers": 1, "d_model": 12, "steps": 6, "batch_size": 4, "device": "cpu", "held_out": 8, "threads": 1,
    "n_snapshots": 2, "warmup_steps": 1, "validate_every": 3, "positions": "learned",
}  # fmt: skip
RATES = {"learning_rate": Range("log", 1e-4, 1e-2), "n_heads": Choices((1, 5, 2))}


@pytest.fixture(autouse=True)
def root(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    monkeypatch.setattr("attention_lab.models.sweeps.driver.TURN_SECONDS", 0.0)
    return tmp_path


@pytest.fixture
def backend(root, monkeypatch):
    """Function that lets runs go to a backend of the test's."""

    def use(curves=None):
        found = AtOnce(root, curves)
        monkeypatch.setattr(jobs, "backend", lambda: found)
        return found

    return use


def spec_of(space, **values):
    return Spec(**{"task": "reverse", "fixed": SMALL, "space": space, "name": "s", **values})


def watch_of(sweep):
    return Watch(sweep.path, sweep.status())


def conduct(spec, *, by=MACHINE, n_slots=2):
    sweep = sweeps.create(spec, by=by)
    return sweep, Driver(sweep, watch_of(sweep), by=by, n_slots=n_slots).run()


def by_loss(values):
    """Curves that hold, at each step, what `values` gives for a run's rate, seed and step."""

    def curve(said):
        how = said["training"]
        return {
            step: {"loss": values(how["learning_rate"], how["seed"], step)} for step in range(10, 101, 10)
        }

    return curve


def test_each_trial_is_the_mean_of_its_seeds_held_out_scores(backend):
    used = backend()
    sweep, ended = conduct(spec_of({"n_heads": Choices((1, 2))}, seeds=2, score="loss"))
    assert ended[0] == "finished"
    trials = sweep.trials()
    assert [trial.state for trial in trials] == ["finished", "finished"]
    runs = {run.id: run for run in list_runs()}
    assert len(runs) == 4 == len(used.submitted)
    for trial in trials:
        said = [runs[run_id].description() for run_id in trial.runs]
        assert [each["training"]["seed"] for each in said] == [0, 1]
        assert {each["model"]["n_heads"] for each in said} == {trial.settings["n_heads"]}
        assert [(each["sweep"]["name"], each["sweep"]["trial"]) for each in said] == [("s", trial.number)] * 2
        words = f"s n_heads={trial.settings['n_heads']}"
        assert [each["name"] for each in said] == [f"{words} seed 0", f"{words} seed 1"]
        assert groups(result_of(runs[run_id]) for run_id in trial.runs)[0].name == f"{words} (2 runs)"
        losses = [runs[run_id].metrics()[-1]["validation"]["loss"] for run_id in trial.runs]
        assert trial.value == pytest.approx(sum(losses) / 2, rel=1e-12)
        assert trial.spread == pytest.approx(statistics.stdev(losses), rel=1e-9)
        assert trial.n == 2 and len(set(losses)) == 2
    assert sweep.best() == min(trials, key=lambda trial: trial.value)


@pytest.mark.parametrize("sampler", ["random", "tpe"])
def test_settings_of_no_model_are_left_out_and_do_not_count(backend, sampler):
    backend(by_loss(lambda rate, seed, step: abs(math.log10(rate) + 3)))
    sweep, ended = conduct(spec_of(RATES, trials=8, sampler=sampler, score="loss"))
    assert ended[0] == "finished"
    tried, drawn = sweep.trials(), map(trial_of, optuna_study.read(sweep.path).trials)
    left_out = [trial for trial in drawn if trial.state == "skipped"]
    assert len(tried) == 8 and {trial.state for trial in tried} == {"finished"}
    assert bool(left_out) == (sampler == "tpe")  # random draws are all made before the start
    for trial in left_out:
        assert trial.settings["n_heads"] == 5 and "not divisible by n_heads=5" in trial.sentence
    for trial in tried:
        assert trial.value == pytest.approx(abs(math.log10(trial.settings["learning_rate"]) + 3))


def test_tpe_ends_where_all_settings_were_tried(backend):
    backend(by_loss(lambda rate, seed, step: rate))
    space = {"learning_rate": Choices((1e-3, 2e-3)), "n_heads": Choices((1, 2, 5))}
    sweep, ended = conduct(spec_of(space, trials=6, sampler="tpe", score="loss"))
    assert ended[0] == "finished" and ended.cause == Cause.EXHAUSTED
    assert sum(trial.state == "finished" for trial in sweep.trials()) == 4


def test_tpe_looks_where_trials_did_well():
    late = {}
    for kind in ("random", "tpe"):
        spec = spec_of({"learning_rate": Range("log", 1e-6, 1.0)}, trials=20, sampler=kind)
        study, values = optuna.create_study(sampler=optuna_study.sampler(spec, 0)), []
        for _ in range(20):
            trial = study.ask()
            optuna_study.suggest(trial, spec)
            values.append(abs(math.log10(trial.params["learning_rate"]) + 3))
            study.tell(trial, values[-1])
        late[kind] = statistics.mean(values[10:])
    assert late["tpe"] < 0.7 * late["random"]


def test_asha_keeps_the_best_third_at_each_rung(backend):
    backend(by_loss(lambda rate, seed, step: rate + 1 / step))
    rates = [5e-3, 4e-3, 6e-3, 3e-3, 7e-3, 2e-3, 8e-3, 1e-3, 9e-3]
    spec = spec_of({"learning_rate": Choices(tuple(rates))}, prune="asha", score="loss", seeds=2)
    spec = replace(spec, fixed={**SMALL, "steps": 100, "validate_every": 10, "warmup_steps": 5})
    sweep, _ = conduct(spec, n_slots=1)
    rungs, wanted = {10: [], 30: [], 90: []}, []
    for rate in rates:  # asynchronous successive halving, Li et al. 2020, with eta = 3, by hand
        pruned = 0
        for step, seen in rungs.items():
            seen.append(rate)
            if rate > sorted(seen)[max(0, len(seen) // 3 - 1)]:
                pruned = step
                break
        wanted.append(pruned)
    trials = sweep.trials()
    assert [trial.state == "pruned" for trial in trials] == [bool(step) for step in wanted]
    assert {"pruned", "finished"} == {trial.state for trial in trials}
    for trial, step in zip(trials, wanted, strict=True):
        if step:
            assert f"pruned at step {step}" in trial.sentence and len(trial.runs) == 1
        else:
            assert len(trial.runs) == trial.n == 2


def test_a_sweep_of_failures_ends_with_the_first_reason(backend, monkeypatch):
    backend(by_loss(lambda rate, seed, step: math.nan))
    sweep, ended = conduct(spec_of({"learning_rate": Range("log", 1e-4, 1e-2)}, trials=30, score="loss"))
    assert ended[0] == "failed"
    assert "trials so far failed; the first: seed 0: reverse-" in ended[1]
    failed = [trial for trial in sweep.trials() if trial.state == "failed"]
    assert 5 <= len(failed) <= 6
    assert "has no finite 'loss' in its last validation" in failed[0].sentence


def test_a_seed_that_has_ended_is_not_trained_again_even_where_its_run_is_gone(backend, monkeypatch):
    used = backend(by_loss(lambda rate, seed, step: rate * (1 + seed)))
    spec = spec_of({"learning_rate": Choices((1e-3,))}, seeds=2, score="loss")
    sweep = sweeps.create(spec, by=MACHINE)
    submit = jobs.submit

    class Killed(BaseException):
        pass

    def killed_at_the_second(*arguments, **options):
        if used.submitted:
            raise Killed
        return submit(*arguments, **options)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(jobs, "submit", killed_at_the_second)
        Driver(sweep, watch_of(sweep), by=MACHINE, n_slots=1).run()
    (first,) = list_runs()
    first.delete()
    assert Driver(sweep, watch_of(sweep), by=MACHINE, n_slots=1).run()[0] == "finished"
    (trial,) = sweep.trials()
    assert trial.values == {0: 1e-3, 1: 2e-3} and trial.runs == (first.id, list_runs()[0].id)
    assert len(used.submitted) == 2


@pytest.mark.parametrize("sampler", ["grid", "random"])
def test_settings_that_a_kill_left_half_drawn_are_drawn_to_their_end(backend, sampler):
    backend(by_loss(lambda rate, seed, step: rate))
    space = {"learning_rate": Choices((1e-3,)), "n_heads": Choices((1, 2))}
    spec = spec_of(space, trials=2, score="loss", sampler=sampler)
    sweep, _ = conduct(spec, n_slots=1)
    journal = sweep.path / "journal.log"
    lines = journal.read_bytes().splitlines(keepends=True)
    first = next(at for at, line in enumerate(lines) if b'"param_name":' in line)
    journal.write_bytes(b"".join(lines[: first + 1]) + b'{"op_code": 8, "wor')  # one of two settings
    assert Driver(sweep, watch_of(sweep), by=MACHINE, n_slots=1).run().state == "finished"
    assert {trial.state for trial in sweep.trials()} == {"finished"}
    assert sorted(trial.settings["n_heads"] for trial in sweep.trials()) == [1, 2]


@pytest.mark.parametrize(("error", "cause"), [(NoRoom, Cause.ROOM), (WriteError, Cause.DISK)])
def test_no_room_pauses_the_sweep_and_loses_nothing(backend, monkeypatch, error, cause):
    backend(by_loss(lambda rate, seed, step: rate))
    submit, left = jobs.submit, iter([True, True])

    def full(*arguments, **options):
        if next(left, None) is None:
            raise error("the disk has 3 MB left; delete some")
        return submit(*arguments, **options)

    with monkeypatch.context() as patch:
        patch.setattr(jobs, "submit", full)
        spec = spec_of({"learning_rate": Choices((1e-3, 2e-3, 3e-3))}, score="loss")
        sweep, ended = conduct(spec, n_slots=1)
    assert ended == Ending("paused", "the disk has 3 MB left; delete some; then resume the sweep", cause)
    assert Driver(sweep, watch_of(sweep), by=MACHINE, n_slots=1).run()[0] == "finished"
    assert [trial.value for trial in sweep.trials()] == [1e-3, 2e-3, 3e-3]


def test_slots_and_the_visitors_live_runs_bound_what_trains_at_once(backend, set_limits):
    set_limits(live_runs=2, cpu_jobs=8)
    used = backend(by_loss(lambda rate, seed, step: rate))
    visitor = Visitor("a")
    spec = spec_of({"learning_rate": Choices((1e-3, 2e-3, 3e-3))}, score="loss", seeds=2)
    _, ended = conduct(spec, by=visitor, n_slots=5)
    assert ended[0] == "finished" and used.most_live <= 2
    assert all(jobs.owners.is_of(run.path, visitor) for run in list_runs())


def test_importance_is_optunas_of_the_same_trials(backend):
    backend(by_loss(lambda rate, seed, step: abs(math.log10(rate) + 3)))
    sweep, _ = conduct(spec_of(RATES, trials=12, sampler="random", score="loss"))
    shares = sweep.importance()
    assert list(shares) == ["learning_rate", "n_heads"] and sum(shares.values()) == pytest.approx(1)
    study = optuna.create_study()
    space = {"learning_rate": optuna.distributions.FloatDistribution(1e-4, 1e-2, log=True)}
    space["n_heads"] = optuna.distributions.CategoricalDistribution((1, 5, 2))
    for trial in sweep.trials():
        if trial.state == "finished":
            study.add_trial(
                optuna.create_trial(params=trial.settings, distributions=space, value=trial.value)
            )
    assert shares == pytest.approx(optuna.importance.get_param_importances(study))


def test_a_run_that_is_refused_ends_its_trial_and_one_that_was_refused_before_is_tried_again(backend, root):
    used = backend()
    train, refusal = used.submit, Status(state="paused", resumed=True, sentence="its file is gone")

    def refuse(run_id, *, keep_going=False):
        write_status(root / run_id, refusal)

    used.submit = refuse
    sweep, ended = conduct(spec_of({"n_heads": Choices((1,))}))
    assert [(trial.state, trial.sentence) for trial in sweep.trials()] == [
        ("failed", "seed 0: its file is gone")
    ]
    used.submit = lambda run_id, *, keep_going=False: write_status(
        root / run_id, Status(state="paused", cause=Cause.PERSON)
    )
    sweep, ended = conduct(spec_of({"n_heads": Choices((1,))}, name="t"))
    assert ended[0] == "paused"
    [run_id] = [run_id for trial in sweep.trials() for run_id in trial.runs]
    write_status(root / run_id, refusal)  # somebody tried by hand, and mends the cause then
    used.submit = train
    ended = Driver(sweep, watch_of(sweep), by=MACHINE, n_slots=2).run()
    assert ended[0] == "finished"
    assert [trial.state for trial in sweep.trials()] == ["finished"]


def test_a_run_that_a_person_paused_stays_paused_whatever_its_sentence_says(backend, root):
    used = backend()
    last = Status(state="paused", cause=Cause.PERSON, sentence=CUT_SHORT)
    used.submit = lambda run_id, *, keep_going=False: write_status(root / run_id, last)
    _, (state, sentence, *_) = conduct(spec_of({"n_heads": Choices((1,))}))
    assert state == "paused" and "was paused by hand" in sentence


SPEC = Spec(
    task="reverse",
    name="s",
    score="loss",
    fixed={"n_layers": 1, "d_model": 12},
    space={"n_heads": Choices((1, 2))},
)


@pytest.fixture
def sweep(tmp_path, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path))
    monkeypatch.setenv("ATTENTION_LAB_SERVING", "")
    monkeypatch.setenv("ATTENTION_LAB_SLOTS", "")
    return sweeps.create(SPEC, by=MACHINE)


def drive(sweep):
    main([str(sweep.path), "--all-rights"])
    return sweep.status()


def test_two_drivers_of_one_sweep_are_one_too_many(sweep, monkeypatch, capsys):
    monkeypatch.setattr("attention_lab.models.sweeps.driver.LAST_ONE_SECONDS", 0.0)
    with FileLock(sweep.path / ".lock"):
        assert main([str(sweep.path)]) == 1
    assert capsys.readouterr().err == "another process works on this sweep; this one ends\n"


def test_a_cluster_that_goes_away_pauses_it_and_fails_no_trial(sweep, monkeypatch):
    used = AtOnce(runs_root(), lambda described: {6: {"loss": 0.5}})
    said = "nothing that this sentence says must matter"
    monkeypatch.setattr(jobs, "backend", lambda: used)
    monkeypatch.setattr("attention_lab.models.sweeps.driver.TURN_SECONDS", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(
            used, "_note", lambda run_id, state: AtOnce._note(used, run_id, "failed", said, Cause.CLUSTER)
        )
        ended = Driver(sweep, watch_of(sweep), by=MACHINE, n_slots=1).run()
    assert ended == Ending("paused", f"{said}; then resume the sweep", Cause.ROOM)
    assert Driver(sweep, watch_of(sweep), by=MACHINE, n_slots=1).run()[0] == "finished"
    assert [(trial.state, trial.value) for trial in sweep.trials()] == [("finished", 0.5)] * 2
    assert used.submitted[0] == used.submitted[1]


def test_an_odd_error_ends_it_with_a_sentence_and_a_log(sweep, monkeypatch):
    monkeypatch.setattr("attention_lab.models.sweeps.driver.Driver.run", lambda self: 1 // 0)
    assert drive(sweep).sentence == "integer division or modulo by zero"
    assert "ZeroDivisionError" in (sweep.path / "log.txt").read_text()


def test_a_cluster_that_is_gone_pauses_and_does_not_fail_trials(sweep, monkeypatch):
    monkeypatch.setenv("ATTENTION_LAB_RAY", "127.0.0.1:1")
    state, sentence, *_ = Driver(sweep, watch_of(sweep), by=MACHINE, n_slots=1).run()
    assert state == "paused" and ("no Ray cluster answers" in sentence or "not installed" in sentence)
