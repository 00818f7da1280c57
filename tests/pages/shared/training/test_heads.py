import numpy as np

from attention_lab.pages.shared.training import heads
from attention_lab.viz_core.boards import Matrix
from tests.pages.shared.training.conftest import STEPS, TOKENS, MakeRun, patterns


def test_every_head_is_a_thumbnail_with_a_frame_for_each_snapshot() -> None:
    rows = heads.grid([patterns(step) for step in STEPS], {"decoder": TOKENS})
    titles = [panel.title for row in rows for panel in row]
    assert titles == ["L0 H0", "L0 H1", "L1 H0", "L1 H1"]
    [panel] = [panel for row in rows for panel in row if panel.title == "L1 H1"]
    assert isinstance(panel, Matrix) and panel.small
    for frame, step in enumerate(STEPS):
        np.testing.assert_array_equal(panel.values[frame], patterns(step)["decoder.1.self.pattern"][1])
    assert [label[0] for label in panel.rows] == TOKENS


def test_stacks_are_in_their_order_and_cross_attention_has_the_source_as_keys() -> None:
    cross = np.full((1, 2, 3), 1 / 3, np.float16)
    frame = {
        "decoder.0.cross.pattern": cross,
        "decoder.0.self.pattern": np.eye(2, dtype=np.float16)[None],
        "encoder.0.self.pattern": np.eye(3, dtype=np.float16)[None],
        "weights": cross,
    }
    [row] = heads.grid([frame], {"encoder": ["x", "y", "z"], "decoder": ["u", "v"]})
    assert [panel.title for panel in row] == ["enc L0 H0", "dec L0 H0", "cross L0 H0"]
    assert (row[2].rows, row[2].columns) == (["u → v", "v"], ["x", "y", "z"])
    assert row[1].rows == ["u", "v"]
    assert row[2].values.shape == (2, 3)


def test_the_large_matrix_shares_the_numbers_of_the_head_it_opens_with() -> None:
    rows = heads.grid([patterns(0)], {"decoder": TOKENS})
    (large,) = heads.large(rows, "L1 H0")
    assert large.title == "L1 H0" and large.large
    assert large.values is next(p.values for row in rows for p in row if p.title == "L1 H0")
    assert heads.large([], "") == []


def test_too_many_frames_are_thinned_evenly_with_first_and_last() -> None:
    assert heads.fitting_frames(40, 1_000) == list(range(40))
    found = heads.fitting_frames(40, heads.FRAME_BYTES // 10)
    assert len(found) == 10 and found[0] == 0 and found[-1] == 39
    assert heads.fitting_frames(5, heads.FRAME_BYTES) == [0, 4]


def test_a_snapshot_that_cannot_be_read_is_left_out(make_run: MakeRun) -> None:
    run = make_run()
    (run.folder.path / "snapshots" / f"{10:08d}.safetensors").write_bytes(b"damaged")
    rows, shown = heads.head_rows(run, run.folder.snapshots())
    assert shown == [0, 1, 100]
    assert rows[0][0].values.shape == (3, 8, 8)


def test_samples_are_plain_text() -> None:
    text = heads.sample_text([{"given": "ab", "made": "<b>ba</b>", "wanted": "ba"}, {"made": "x"}, 7])
    assert text == "given   ab\nmade    <b>ba</b>\nwanted  ba  ✗\n\nmade    x"


def test_the_head_that_copies_is_found_by_the_attention_on_what_is_to_be_written() -> None:
    tokens = list("ab=ab")  # "=" is to write a, and a is to write b
    copies, looks_at_itself = np.zeros((2, 5, 5))
    copies[2, 0], copies[3, 1], copies[3, 0] = 1, 0.5, 0.5
    looks_at_itself[:] = np.eye(5)
    assert heads.copying(np.stack([copies, looks_at_itself]), tokens) == [0.75, 0]
    assert heads.copying(np.ones((1, 3, 3)) / 3, list("abc")) == []


def test_the_head_at_work_is_the_one_that_copies_or_else_the_one_that_has_changed_most(
    make_run: MakeRun,
) -> None:
    run = make_run()
    steps = run.folder.snapshots()
    assert heads.at_work(run, []) == ("", ())
    head, shares = heads.at_work(run, steps)
    assert head == "L1 H1" and all(0 <= share <= 1 for share in shares)
