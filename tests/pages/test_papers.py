"""Every kind of zip for a paper, as a stranger has it: its scripts run in a folder of their own and give the
numbers beside them; its figure keeps the rules of the page; its texts are pdfLaTeX's.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text

from attention_lab.models.findings import findings
from attention_lab.models.sweeps import list_shipped
from attention_lab.pages.beside import board as beside_board
from attention_lab.pages.beside import state as beside
from attention_lab.pages.beside.takeaway import code_of
from attention_lab.pages.beside.two_sides import compute
from attention_lab.pages.documents import reading
from attention_lab.pages.documents import takeaway as documents
from attention_lab.pages.explore import takeaway as explore
from attention_lab.pages.explore.figure import asked_of
from attention_lab.pages.explore.question import Question
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.findings import measurement
from attention_lab.pages.findings.board import board_of
from attention_lab.pages.lab import page as lab_page
from attention_lab.pages.lab.lesson import lab_page as find_page
from attention_lab.pages.runs import compare, scrubber
from attention_lab.pages.runs import page as runs_page
from attention_lab.pages.shared import takeaway_dialog
from attention_lab.pages.shared.board import takeaway
from attention_lab.pages.shared.takeaway_dialog import Web
from attention_lab.pages.shared.training import runs
from attention_lab.pages.shared.work import Job
from attention_lab.pages.sweeps import open_sweep
from attention_lab.viz_core.boards import Board
from attention_lab.viz_core.paper import VENUES, Bundle
from attention_lab.viz_core.paper.drawing import on_paper
from attention_lab.viz_core.viewer.message import pack

ROOT = Path(__file__).parents[2]
EDIT = "encoder.0.self heads 1: zero"
HEAD = {"stack": "encoder.self", "layer": 1, "head": 2}
PATH = {"sender": "encoder.0.self heads 1", "receiver": "decoder.1.cross heads 2"}
DOCUMENT = "the animal did not cross the street because it was too tired.\r\n" * 8
ARCHIVE = "from attention_lab.pages.shared.board.takeaway import archive\n"


@dataclass(frozen=True)
class Kind:
    """How a bundle is made, and what its script is asked at its end: a list of arrays, and the same numbers
    read from the files of the zip.
    """

    make: Callable[[], None]
    script: str
    zip: Callable[[Path], list[Any]]


def table(folder: Path, *columns: str) -> list[Any]:
    (file,) = folder.glob("*.csv")
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    return [np.array([float(row[column]) for row in rows]) for column in columns]


def arrays(folder: Path, *names: str) -> list[Any]:
    (file,) = folder.glob("*.npz")
    with np.load(file) as held:
        return [held[name] for name in names]


def on_stage(script: str, numbers: Callable[[Path], list[Any]], edits: str = "", **act: Any) -> Kind:
    inputs = act.pop("inputs", Inputs(edits=edits))

    def make() -> None:
        explore.show_all({**HEAD, **act}, Question(**asked_of(inputs)), dark=False)

    return Kind(make, script, numbers)


def taken(board: Board, code: str, frame: int = 0, **facts: object) -> None:
    dialog = takeaway.dialog.__wrapped__  # type: ignore[attr-defined]
    dialog("A board", "board", board, frame, code, facts, (), Web("http://localhost/"))


def part(page_name: str, name: str) -> None:
    page = find_page(page_name)
    chosen = page.find_part(name)
    inputs = page.computed_from(chosen, page.inputs())
    lesson = chosen.lesson(inputs)
    view = lab_page.PartView(lesson, pack(board=lesson.board), {}, inputs)
    taken(lesson.board, lab_page.script(page, chosen, view), **lab_page._facts(page, chosen, view))


def finding(name: str) -> None:
    found = findings()[name]
    parameters = tuple((field, each.default) for field, each in found.parameters.items())
    request = measurement.FindingRequest(name, found.model, 0, parameters)
    taken(board_of(measurement.usual_outcome(found)), measurement.lines_of(found, request))


def sides(label: str) -> None:
    fields = beside.page().params
    values = {name: field.default for name, field in fields.items()} | beside.presets()[label]
    request = beside.request(values)
    comparison = compute(Job(request=request))
    selection = beside.selection(values, comparison)
    board = beside_board.board_of(beside_board.on_one_grid(comparison, selection.heads[0][0]), selection)
    frame = comparison.first if board.scrub else None
    taken(board, code_of(request, selection, comparison, frame), frame or 0)


def shipped_run() -> runs.Run:
    return next(run for run in runs.every() if run.shipped and run.title == "induction")


def scrubbed() -> None:
    run = shipped_run()
    board = scrubber.scrubbed(run, compare.STEPS)
    taken(board, runs_page._code(run), len(board.scrub.values) - 1 if board.scrub else 0)


def sweep() -> None:
    found = list_shipped()[0]
    listed = [trial for trial in found.trials() if trial.state != "skipped"]
    board = open_sweep.board_of(found.spec, listed, found.importance())
    taken(board, open_sweep.code_of(found))


def document() -> None:
    picture = reading.compute(Job(request=reading.DocumentRequest("sparse", DOCUMENT, layer=1, head=2)))
    dialog = documents.dialog.__wrapped__  # type: ignore[attr-defined]
    dialog({"q0": 100, "q1": 160, "k0": 60, "k1": 160}, picture)


def heads_of_layer(folder: Path) -> list[Any]:
    return [np.stack(table(folder, *(f"layer_1_head_{head}" for head in range(4)))).reshape(4, 14, 14)]


def of_head(folder: Path) -> list[Any]:
    (pattern,) = arrays(folder, "encoder.1.self.pattern")
    (weights,) = table(folder, "weight")
    assert np.allclose(weights, pattern[2].ravel(), atol=1e-6)
    return [pattern[2]]


def whole_archive(folder: Path) -> list[Any]:
    (file,) = folder.glob("*.npz")
    with np.load(file) as held:
        return [held[name] for name in sorted(held.files) if held[name].dtype.kind == "f"]


BOARD = "held = np.load(io.BytesIO(archive({board})))\nmade = [held[n] for n in sorted(held.files)]\n"
BOARD = f"import io\n{ARCHIVE}{BOARD}made = [each for each in made if each.dtype.kind == 'f']"
PATTERN = "made = [pattern]"
VIEWS = ("plane", "lines", "numbers", "map")
"""Others of a head, whose script they have."""
ALONE = ("grid", "lab")
"""Those whose scripts run as a stranger runs them to the letter; those of others find libraries imported."""
KINDS = {
    "grid": on_stage("made = [patterns[1]]", heads_of_layer, view="grid"),
    "head": on_stage(PATTERN, of_head, view="head"),
    "plane": on_stage(PATTERN, of_head, view="head", show="plane"),
    "lines": on_stage(PATTERN, of_head, view="lines", heads=[0, 1, 2, 3]),
    "numbers": on_stage(PATTERN, of_head, view="numbers", query=8, key=1),
    "map": on_stage(PATTERN, of_head, view="map"),
    "picture": on_stage(
        "made = [pattern]",
        lambda folder: [arrays(folder, "encoder.1.self.pattern")[0][2]],
        view="picture", query=5, inputs=Inputs("digits-classifier", "2"),
    ),
    "output": on_stage(
        "made = [[each[0] for each in outputs]]", lambda folder: table(folder, "probability"),
        view="output", step=3,
    ),
    "effect": on_stage(
        "both = {each.name: (each.before, each.after) for each in outputs}\n"
        "made = [[both[name][side] for name in LISTED] for side in (0, 1)]",
        lambda folder: table(folder, "probability_without_edits", "probability_with_edits"),
        view="effect", step=3, edits=EDIT,
    ),
    "difference": on_stage(
        "made = [change]",
        lambda folder: [np.subtract(*table(folder, "weight", "weight_without_edits")).reshape(14, 14)],
        view="head", when="difference", edits=EDIT,
    ),
    "sums": on_stage(
        "made = [list(sums.values())]", lambda folder: table(folder, "weight_on_chosen_keys"),
        view="sums", keys="1",
    ),
    "sweep": on_stage(
        "made = [np.concatenate([np.ravel(each) for each in sweep.effects.values()])]",
        lambda folder: table(folder, "effect"), view="sweep", sweep="heads",
    ),
    "path": on_stage(
        "both = {each.name: each.before for each in outputs}\nmade = [[both[name] for name in LISTED]]",
        lambda folder: table(folder, "probability"), view="sweep", sweep="path", **PATH,
    ),
    "lab": Kind(lambda: part("attention", "steps"), BOARD.format(board="board"), whole_archive),
    "charts": Kind(lambda: part("softmax", "dots"), BOARD.format(board="board"), whole_archive),
    "diagram": Kind(lambda: part("translation", "flow"), BOARD.format(board="board"), whole_archive),
    "finding": Kind(
        lambda: finding("positional"),
        f"from attention_lab.pages.findings.board import board_of\n{BOARD.format(board='board_of(outcome)')}",
        whole_archive,
    ),
    "texts": Kind(
        lambda: sides(next(iter(beside.presets()))),
        "made = [laid.difference]", lambda folder: arrays(folder, "panel3.values"),
    ),
    "steps": Kind(
        lambda: sides(list(beside.presets())[-1]),
        "made = [np.float32(b[where][0]) - np.float32(a[where][0])]",
        lambda folder: [arrays(folder, "panel3.values")[0][0]],
    ),
    "run": Kind(
        scrubbed, "made = [patterns[800]['decoder.1.self.pattern'][0]]",
        lambda folder: [arrays(folder, "panel3.values")[0][-1]],
    ),
    "runs": Kind(
        lambda: taken(compare.board_of([shipped_run()]), runs_page._code(shipped_run())),
        "made = [sorted({record['step'] for record in records if 'loss' in record})]",
        lambda folder: [],
    ),
    "trials": Kind(
        sweep, "made = [sorted(trial.value for trial in sweep.trials() if trial.value is not None)]",
        lambda folder: [],
    ),
    "document": Kind(document, "made = [picture.cells]", lambda folder: arrays(folder, "cells")),
}  # fmt: skip


@cache
def bundle_of(name: str) -> Bundle:
    """As its dialog hands it to the part that makes zips."""
    made: list[Bundle] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(takeaway_dialog, "_for_a_paper", lambda bundle, *_, **__: made.append(bundle))
        KINDS[name].make()
    return made[0]


REFUSED = {("diagram", "nature"), ("charts", "nature"), ("steps", "nature"), ("run", "nature"),
           ("finding", "nature"), ("diagram", "nature-wide")}  # fmt: skip
OF_A_SCREEN = re.compile(r"\b(press|click|drag|slider|to type)\b", re.I)


def venue_of(name: str) -> str:
    """The narrower of the two columns that prints it."""
    return "nature" if (name, "nature") not in REFUSED else "nature-wide"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Function that unpacks the zip of a kind into a folder of its own."""

    @cache
    def unpack(name: str) -> Path:
        folder = tmp_path_factory.mktemp(name)
        with zipfile.ZipFile(io.BytesIO(bundle_of(name).zipped(venue_of(name)))) as archive:
            archive.extractall(folder)
        return folder

    return unpack


def run(folder: Path, script: str) -> None:
    """As a stranger, who has installed the lab, runs it."""
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    ended = subprocess.run([sys.executable, script], cwd=folder, env=env, capture_output=True, text=True)
    assert not ended.returncode, f"{script}: {ended.stderr[-2000:]}"


@pytest.fixture(scope="module")
def forks() -> Iterator[subprocess.Popen[str]]:
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(Path(__file__).with_name("forks.py"))]
    with subprocess.Popen(
        command, env=env, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        yield process
        process.kill()


def run_forked(forks: subprocess.Popen[str], folder: Path, script: str) -> None:
    assert forks.stdin and forks.stdout
    print(json.dumps([str(folder), script]), file=forks.stdin, flush=True)
    assert forks.stdout.readline() == "0\n", script


PRINTED = [name for name in KINDS if (name, "nature-wide") not in REFUSED]
printed = pytest.mark.parametrize("name", PRINTED)


@pytest.mark.parametrize("name", VIEWS)
def test_other_views_of_a_head_have_its_script_and_numbers(
    name: str, unpacked: Callable[[str], Path]
) -> None:
    of_head(unpacked(name))
    assert bundle_of(name).code == bundle_of("head").code


@pytest.mark.parametrize("name", [name for name in PRINTED if name not in VIEWS])
def test_its_scripts_run_for_a_stranger_and_give_its_numbers(
    name: str, unpacked: Callable[[str], Path], forks: subprocess.Popen[str]
) -> None:
    folder = unpacked(name)
    taken_names = sys.stdlib_module_names | packages_distributions().keys()
    assert not {file.stem for file in folder.glob("*.py")} & taken_names  # it would hide the module
    expected = KINDS[name].zip(folder)
    listed = [row[0] for file in folder.glob("*.csv") for row in csv.reader(io.StringIO(file.read_text()))]
    with (folder / "compute.py").open("a", encoding="utf-8") as script:
        script.write(f"\nimport numpy as np\nLISTED = {listed[1:]}\n{KINDS[name].script}\n")
        script.write("np.savez('made', *[np.asarray(each) for each in made])\n")
    if name in ALONE:
        run(folder, "compute.py")
    else:
        run_forked(forks, folder, "compute.py")
    if name == "lab":  # the script is the same for all
        before = (folder / "figure.svg").read_bytes()
        run(folder, "figure.py")
        assert (folder / "figure.svg").read_bytes() == before
    with np.load(folder / "made.npz") as made:
        assert made.files and all(made[each].size for each in made.files)
        for got, wanted in zip(made.files, expected, strict=False):
            np.testing.assert_allclose(
                np.squeeze(made[got]), np.squeeze(wanted), rtol=5e-5, atol=1e-5, equal_nan=True
            )


@pytest.mark.parametrize(
    ("name", "venue"),
    [
        *((name, "nature") for name in KINDS),
        *((name, "nature-wide") for name, venue in sorted(REFUSED) if venue == "nature"),
    ],
)
def test_a_figure_keeps_the_rules_of_print_or_is_refused(name: str, venue: str) -> None:
    bundle = bundle_of(name)
    paper = on_paper(bundle.figure(VENUES[venue].pixels), VENUES[venue])
    width, height = paper.figure.get_size_inches() * 25.4
    texts = [text for text in paper.figure.findobj(Text) if text.get_text().strip()]
    sizes = [text.get_fontsize() for text in texts]
    keeps = height <= 247.5 and min(sizes) >= 4.95
    assert keeps == ((name, venue) not in REFUSED), (height, min(sizes))
    if keeps:
        assert width == pytest.approx({"nature": 89, "nature-wide": 183}[venue], abs=0.1)
        assert max(sizes) <= 7.01
        assert not [text.get_text() for text in texts if OF_A_SCREEN.search(text.get_text())]


@pytest.mark.parametrize(
    ("name", "venue", "sentence"),
    [
        ("steps", "nature", "mm high; a page has 247 mm. Instead, choose Nature, two columns, 183 mm."),
        ("diagram", "nature-wide", "points; print needs 5 or more. Instead, leave out panels."),
        ("head", "nature", ""),
    ],
)
def test_a_refusal_names_the_width_that_fits(name: str, venue: str, sentence: str) -> None:
    refusal = bundle_of(name).refusal(venue)
    assert refusal.endswith(sentence) and bool(refusal) == bool(sentence)
    if sentence:
        with pytest.raises(ValueError, match=r"mm high|points"):
            bundle_of(name).zipped(venue)


@printed
def test_a_caption_names_no_internals_and_latex_gets_only_signs_that_it_knows(
    name: str, unpacked: Callable[[str], Path]
) -> None:
    """Those of T1 in utf8: letters of western and central Europe, quotation marks and dashes."""
    folder = unpacked(name)
    caption = (folder / "caption.txt").read_text("utf-8")
    assert not OF_A_SCREEN.search(caption) and not re.search(r": -1\b", caption)
    for file in (folder / "figure.pgf", folder / "caption.tex", folder / "references.bib"):
        text = file.read_text("utf-8") if file.exists() else ""
        assert not {each for each in text if not (each <= "~" or "À" <= each <= "ž" or each in "–—“”‘’")}
        assert not set("×÷") & set(text)


def test_captions_describe_the_panels(unpacked: Callable[[str], Path]) -> None:
    head, texts = ((unpacked(name) / "caption.txt").read_text("utf-8") for name in ("head", "texts"))
    assert head.startswith(
        "Encoder self, layer 1 head 2. Attention weight of each query (rows) on each key (columns). model: "
        "translator; text: “the animal did not cross the street because it was too tired”. "
        "Made with Attention Lab 0."
    )
    assert "a, A: first text, layer 1 head 3 (query by key); b, B: second text" in texts
    assert r"\ensuremath{\neq}" in (unpacked("texts") / "figure.pgf").read_text("utf-8")
