"""Runs by configuration, which of them may be ranked, and what is said of them."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from attention_lab.models.runs.folder import RunFolder
from attention_lab.models.runs.ranking import (
    differences_table,
    differing,
    differing_table,
    groups,
    main_score,
    of_report,
    outcomes_in,
    rankable,
    scores_table,
    verdict,
)
from attention_lab.models.runs.results import Result, changed_words, lower_is_better, result_of

Make = Callable[..., Result]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a run's files by hand and reads its result."""

    def made(
        name: str = "run", seed: int = 0, score: float | None = 0.5, *, finished: bool = True, **more: object
    ) -> Result:
        task, options = more.pop("task", "reverse"), {"length": more.pop("length", 8)}
        training = {"steps": 50, "learning_rate": 0.01, "seed": seed, "held_out": 64, "threads": seed, **more}
        folder = tmp_path / f"{name}-{seed}-{len(list(tmp_path.iterdir()))}"
        folder.mkdir()
        described = {"version": 1, "name": name, "task": {"name": task, "options": options}}
        described |= {"model": {"n_heads": 4}, "training": training}
        (folder / "config.json").write_text(json.dumps(described))
        (folder / "task.json").write_text("{}")
        if score is not None:
            line = {"step": 50, "validation": {"loss": 1 - score, "exact match": score}}
            (folder / "metrics.jsonl").write_text(json.dumps(line) + "\n")
        return result_of(RunFolder(folder), finished=finished)

    return made


def test_runs_that_differ_by_their_seed_alone_are_one_group(make: Make) -> None:
    runs = [make("a", 0), make("b", learning_rate=0.1), make("c", 1), make("d", 0)]
    assert [[run.name for run in group.runs] for group in groups(runs)] == [["a", "c", "d"], ["b"]]
    assert groups(runs)[0].name == "a (and 2 more)"


def test_names_that_tell_seeds_apart_make_one_name(make: Make) -> None:
    assert groups([make("wide, seed 0", 0), make("wide, Seed 12", 1)])[0].name == "wide (2 runs)"
    assert groups([make("seed 0", 0), make("seed 1", 1)])[0].name == "seed 0 (and 1 more)"
    assert groups([make("a", 0), make("a", 1)])[0].name == "a (2 runs)"


def test_a_seed_counts_once(make: Make) -> None:
    [group] = groups([make("a", 0, 0.4), make("b", 0, 0.6), make("c", 1, 0.9), make("d", 2, finished=False)])
    assert group.by_seed("exact match") == {0: 0.5, 1: 0.9}
    found = group.summary("exact match")
    assert found and (found.n, found.mean) == (2, pytest.approx(0.7))


def test_only_the_same_task_data_and_held_out_examples_are_ranked(make: Make) -> None:
    runs = [make("a"), make("b", learning_rate=0.1), make("c", length=9), make("d", held_out=32)]
    kinds = rankable(groups(runs))
    assert [[group.name for group in kind.groups] for kind in kinds] == [["a", "b"], ["c"], ["d"]]
    assert kinds[0].score == "exact match"
    said = verdict(groups(runs))
    assert said[0] == (
        "Not all can be compared: they have different data (length, held_out); only those of one task and "
        "its data are ranked."
    )
    assert verdict(groups(runs[2:])) == [
        "None of these can be compared: they have different data (length, held_out)."
    ]
    assert verdict(groups([make("a"), make("b", task="copy")])) == [
        "None of these can be compared: they learn different tasks (reverse, copy)."
    ]


def test_an_upload_counts_by_what_it_holds(make: Make, tmp_path: Path) -> None:
    same, other = "ab" * 32, "cd" * 32
    paths = [f"/one/{same}.csv", f"/another/{same}.csv", f"/one/{other}.csv"]
    runs = [make("a", length=path) for path in paths]
    assert [len(kind.groups[0].runs) for kind in rankable(groups(runs))] == [2, 1]


def test_a_better_group_is_said_with_its_test(make: Make) -> None:
    good = [make("good", seed, score) for seed, score in enumerate((0.90, 0.93, 0.88, 0.95))]
    bad = [make("bad", seed, score, learning_rate=1.0) for seed, score in enumerate((0.5, 0.55, 0.45, 0.5))]
    said = verdict(groups([*bad, *good]))
    assert said[0] == "“good (4 runs)” is better than the other."
    assert said[1].startswith(
        "By exact match, held out (higher is better): “good (4 runs)” 0.915 ± 0.031 (n = 4 "
    )
    assert "paired t test, n = 4 pairs of seeds, p < 0.001" in said[2]
    assert said[2].endswith("a difference is shown.")
    assert said[3].startswith("n is small")
    assert verdict(groups([*bad, *good]), "loss")[0] == said[0]  # lower is better there


def test_no_best_is_named_where_the_interval_holds_zero(make: Make) -> None:
    first = [make("a", seed, score) for seed, score in enumerate((0.90, 0.93, 0.88))]
    second = [make("b", seed, score, learning_rate=1.0) for seed, score in enumerate((0.91, 0.90, 0.89))]
    third = [make("c", seed, score, learning_rate=2.0) for seed, score in enumerate((0.10, 0.11, 0.08))]
    assert verdict(groups(first + second))[0] == "No difference is shown between the two."
    said = verdict(groups(first + second + third))
    assert said[0].startswith("No best is shown: “a (3 runs)” is better than “c (3 runs)”")
    assert "after Holm" in "".join(said)
    rows = differences_table(groups(first + second + third))
    assert [row[-1] for row in rows] == ["shown", "no difference shown", "yes", "yes"]


def test_no_interval_of_a_share_leaves_it_and_seeds_alike_have_none(make: Make) -> None:
    runs = [make("a", seed, score) for seed, score in enumerate((0.98, 1.0, 0.997))]
    runs += [make("b", seed, 1.0, learning_rate=1.0) for seed in range(3)]
    head, *rows = scores_table(groups(runs))
    at = head.index("exact match, 95% interval over seeds")
    low, high = map(float, rows[0][at].split(" to "))
    assert 0.8 < low < 0.98 and 0.99 < high <= 1 and rows[1][at] == "–"
    loss = rows[0][head.index("loss, 95% interval over seeds")]
    assert float(loss.split(" to ")[0]) > 0
    alike = groups([make(name, seed, 1.0, clip=name == "c") for name in "cd" for seed in range(3)])
    said = verdict(alike)
    assert "− “d (3 runs)”: 0, sign test, n = 3 pairs of seeds, p = 1.000: no difference shown." in said[2]
    assert len(said) == 3, "no normal scores are assumed"


def test_many_pairs_are_left_to_the_table(make: Make) -> None:
    runs = [
        make(f"c{at}", seed, 0.2 * at + 0.01 * seed, clip=float(at)) for at in range(4) for seed in range(3)
    ]
    said = verdict(groups(runs))
    assert said[2] == "All pairs make 6; the table has their tests."
    assert len(differences_table(groups(runs))) == 7


def test_single_runs_show_nothing_without_their_examples(make: Make) -> None:
    pair = groups([make("a", 0, 0.9), make("b", 0, 0.4, learning_rate=1.0)])
    said = verdict(pair)
    assert said[0] == "No difference is shown between the two."
    assert said[2].endswith(
        "no test: one seed of a configuration cannot show a difference; train at least 3 of each."
    )
    outcomes = {"a": [1.0] * 18 + [0.0] * 2, "b": [1.0] * 8 + [0.0] * 12}
    said = verdict(pair, outcomes=lambda run, score: (outcomes[run.name], [1.0] * 20))
    assert said[0] == "“a” is better than the other."
    assert "McNemar's exact test" in said[2] and "n = 20 examples, p = 0.002" in said[2]
    assert "for other seeds" in said[3]


def test_unfinished_and_bare_runs_are_named_and_not_counted(make: Make) -> None:
    runs = [make("a"), make("half", 1, finished=False), make("bare", 2, None)]
    assert verdict(groups(runs))[1:] == [
        "Not counted, since not finished: half (step 50 of 50).",
        "Not counted, since never validated: bare.",
    ]
    assert verdict(groups([make("x", 0, None)]))[0] == "None of these runs has been validated at its end yet."
    assert verdict([]) == []


def test_tables_of_scores_and_of_what_differs(make: Make) -> None:
    found = groups([make("a", 0, 0.5), make("a", 1, 0.7), make("b", 0, 0.6, learning_rate=1.0)])
    table = scores_table(found)
    assert table[0][:3] == ["configuration", "seeds", "exact match"]
    assert table[1][:4] == ["a (2 runs)", "0, 1", "0.60 ± 0.14", "–"]
    assert differing(found) == {"learning_rate": [0.01, 1.0]}
    assert differing_table(found) == [["setting", "a (2 runs)", "b"], ["learning_rate", "0.01", "1.0"]]
    assert main_score(found) == "exact match"


def test_what_was_changed_makes_another_configuration(make: Make, tmp_path: Path) -> None:
    plain, other = make("a", 0), make("b", 1)
    path = next(tmp_path.glob(f"{other.id}/config.json"))
    history = [{"step": 20, "from": "a", "changed": {"learning_rate": [0.01, 0.001]}, "schedule": "anew"}]
    path.write_text(json.dumps(json.loads(path.read_text()) | {"history": history}))
    changed = result_of(RunFolder(path.parent), finished=True)
    assert len(groups([plain, changed])) == 2
    assert changed_words(history[0]) == "from step 20: learning_rate 0.01 → 0.001, the schedule starts anew"


def test_which_scores_are_better_when_lower() -> None:
    lower = ("loss", "bits per letter", "perplexity", "squared error", "unexplained variance")
    assert all(map(lower_is_better, lower))
    assert not any(map(lower_is_better, ("exact match", "accuracy", "BLEU", "chrF", "tokens right")))


GOOD = {"parts": {"held out": {"outcomes": {"accuracy": [[1, 0.0, 1], [1, 1, 1]]}}}}


def test_examples_are_read_and_what_is_damaged_is_left_out():
    assert of_report(GOOD, "accuracy") == ([1, 0.0, 1], [1, 1, 1])
    assert of_report(GOOD, "BLEU") is None
    odd = [3, [[1], [1, 2]], [[1], ["x"]], [[1e99], [1]], [[1], [0]], [[], []], [[1]]]
    for outcomes in odd:
        report = {"parts": {"held out": {"outcomes": {"accuracy": outcomes}}}}
        assert of_report(report, "accuracy") is None
    assert of_report({"parts": []}, "accuracy") is None


def test_a_report_of_another_step_does_not_count(tmp_path):
    (tmp_path / "report.json").write_text(json.dumps({"version": 1, "step": 50, **GOOD}))
    folders = {"mine": RunFolder(tmp_path)}
    run = Result(id="mine", name="", task="", data={}, settings={}, seed=0, step=50, scores={})
    assert outcomes_in(folders)(run, "accuracy") == ([1, 0.0, 1], [1, 1, 1])
    later = Result(id="mine", name="", task="", data={}, settings={}, seed=0, step=60, scores={})
    assert outcomes_in(folders)(later, "accuracy") is None
    assert outcomes_in({})(run, "accuracy") is None
    (tmp_path / "report.json").write_text("{")
    assert outcomes_in(folders)(run, "accuracy") is None
