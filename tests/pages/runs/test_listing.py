"""The order of the list: numbers as numbers, missing ones last, and no ranks across tasks."""

import json
import random

import pytest

from attention_lab.models.runs.folder import Status, write_status
from attention_lab.pages.runs import listing, state
from attention_lab.pages.shared.training.runs import Run
from tests.pages.shared.training.conftest import MakeRun


def reach(run: Run, *, loss: float | None = None, step: int = 100, **scores: float) -> Run:
    """Lets a run have finished with these held-out scores; without a loss it was not validated."""
    entry: dict = {"step": step, "loss": 1.0, "seconds": float(step)}
    if loss is not None:
        entry["validation"] = {"loss": loss, **scores}
    (run.folder.path / "metrics.jsonl").write_text(json.dumps(entry) + "\n")
    write_status(run.folder.path, Status(state="finished", step=step, steps=step))
    return run


def order(listed: list[Run], sort: str) -> list[list[str]]:
    """The names in each part."""
    return [
        [each.name for each in part.members] for part in listing.sorted_parts(listing.grouped(listed), sort)
    ]


@pytest.fixture
def losses(make_run: MakeRun) -> list[Run]:
    """Runs of one task whose losses are no order of texts: "10.0000" is less than "9.0000" there."""
    values = {"run 10": 10.0, "run 9": 9.0, "run 2": 1e-4, "not yet": None, "run 1": 0.5}
    return [
        reach(make_run(name=name, clip=1.0 + at), loss=loss, step=10**at)
        for at, (name, loss) in enumerate(values.items())
    ]


def test_numbers_are_sorted_as_numbers_with_the_missing_ones_last(losses: list[Run]) -> None:
    assert order(losses, "") == [["run 10", "run 9", "run 2", "not yet", "run 1"]]
    assert order(losses, "loss") == [["run 2", "run 1", "run 9", "run 10", "not yet"]]
    assert order(losses, "-loss") == [["run 10", "run 9", "run 1", "run 2", "not yet"]]
    assert order(losses, "-n")[0][-1] == order(losses, "n")[0][-1] == "not yet"
    for column in ("step", "trained"):
        assert order(losses, f"-{column}") == [[run.title for run in reversed(losses)]]


def test_texts_are_sorted_with_the_numbers_in_them_and_equals_keep_their_order(losses: list[Run]) -> None:
    assert order(losses, "run") == [["not yet", "run 1", "run 2", "run 9", "run 10"]]
    assert order(losses, "task") == order(losses, "-task") == order(losses, "")
    losses[3].folder.annotate(tags=["best of all"])
    assert order(losses, "-tags")[0][0] == order(losses, "tags")[0][0] == "not yet"
    shuffled = random.Random(0).sample(losses, len(losses))
    assert order(shuffled, "made") == order(losses, "made") == [[run.title for run in losses]]


def test_scores_are_sorted_within_a_task_and_its_data_alone(make_run: MakeRun) -> None:
    listed = [
        reach(make_run(name="a"), loss=0.3, accuracy=0.7),
        reach(make_run("reverse", name="b"), loss=0.1, accuracy=0.9),
        reach(make_run(name="c", clip=2.0), loss=0.2, accuracy=0.95),
        reach(make_run("reverse", name="d", clip=2.0), loss=0.4, accuracy=0.2),
        reach(make_run("reverse", name="e", held_out=32), loss=0.0, accuracy=1.0),
        reach(make_run(name="f", clip=3.0)),
    ]
    damaged = reach(make_run(name="g"), loss=0.0, accuracy=1.0)
    (damaged.folder.path / "config.json").write_text("{")
    listed.insert(0, damaged)
    assert order(listed, "score") == [["a", "c", "f"], ["d", "b"], ["e"], [damaged.id]]
    assert order(listed, "-score") == [["c", "a", "f"], ["b", "d"], ["e"], [damaged.id]]
    assert order(listed, "loss") == [["c", "a", "f"], ["b", "d"], ["e"], [damaged.id]]
    labels = [part.label for part in listing.sorted_parts(listing.grouped(listed), "score")]
    assert labels == [
        f"induction: accuracy ({listing.WHY})",
        "reverse, held_out 256: accuracy",
        "reverse, held_out 32: accuracy",
        listing.UNREAD,
    ]
    parts = listing.sorted_parts(listing.grouped(listed), "loss")
    heads = [listing.rows_of(part, [], [], "loss")[0] for part in parts]
    assert all(row.heading for row in heads)
    assert [row.cells[0] for row in heads][1:3] == ["reverse, held_out 256", "reverse, held_out 32"]
    [alone] = listing.sorted_parts(listing.grouped(listed[1:2]), "score")
    assert alone.label == ""


def test_a_group_stands_by_its_mean_and_its_runs_are_sorted_below_it(make_run: MakeRun) -> None:
    seeds = [reach(make_run(name="many", seed=seed), loss=loss) for seed, loss in enumerate((0.1, 0.9, 0.2))]
    single = reach(make_run(name="single", clip=2.0), loss=0.3)
    shown = listing.grouped([*seeds, single])
    [up], [down] = (listing.sorted_parts(shown, sort) for sort in ("loss", "-loss"))
    assert [len(each.runs) for each in up.members] == [1, 3]  # 0.3, and a mean of 0.4
    for part, wanted in ((up, [0, 2, 1]), (down, [1, 2, 0])):
        sort = "loss" if part is up else "-loss"
        rows = [row for row in listing.rows_of(part, [], listing.columns_for([]), sort) if row.group]
        assert [row.id for row in rows] == [seeds[at].id for at in wanted]
        assert {row.group for row in rows} == {f"group:{seeds[0].id}"}


def test_a_press_sorts_up_then_down_then_not_and_the_link_says_so() -> None:
    assert listing.turned("", "loss") == "loss"
    assert listing.turned("loss", "loss") == "-loss"
    assert listing.turned("-loss", "loss") == ""
    assert listing.turned("-loss", "step") == "step"
    rule = state.STATE.params["sort"].rule
    for sort in ("", "loss", "-made"):
        assert rule.parsed(sort) == sort
    with pytest.raises(ValueError):
        rule.parsed("<b>loss")
    assert rule.refusal("colour").startswith("'colour' is not a column (run, task, status, ")
    assert listing._named("-loss") == "-loss, held out" and listing._named("step") == "step"
    assert tuple(listing.COLUMNS) == state.SORTED


def test_a_run_that_was_never_validated_has_no_score() -> None:
    assert listing.last_score([]) == ("", None)
    assert listing.last_score([{"step": 1, "validation": {"loss": 1.0, "bleu": "many"}}]) == ("bleu", None)


def test_a_filter_reads_name_tags_task_and_status(make_run: MakeRun) -> None:
    runs = [make_run(name="First try"), make_run("reverse", name="other")]
    runs[1].folder.annotate(tags=["keep me"])
    words = ("first", "KEEP reverse", "nothing", "stopped")
    found = [[run.title for run in listing.filtered(runs, each)] for each in words]
    assert found == [["First try"], ["other"], [], ["First try", "other"]]
