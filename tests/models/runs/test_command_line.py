"""The command line: what it runs, writes and prints, and what it says when something is wrong."""

import csv
import json
import re
import shutil
import subprocess
import sys
from itertools import islice

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM

from attention_lab.models.data.tasks import TASKS, make_task
from attention_lab.models.engine.positions.sinusoidal import sinusoids
from attention_lab.models.engine.trace import Trace
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.runs import command_line, export
from attention_lab.models.runs.export import command_of, scaling
from attention_lab.models.runs.folder import (
    RunFolder,
    Status,
    checked_notes,
    checked_tags,
    find_run,
    matches,
    write_status,
)
from attention_lab.models.runs.worker import Watch
from attention_lab.models.training.config import run_config
from attention_lab.models.training.loop import Training
from attention_lab.models.training.settings import configured
from attention_lab.models.zoo import load_model
from tests.models.commands import caller

REVERSE = ["run", "--task", "reverse"]
SMALL = ["n_layers=1", "n_heads=2", "d_model=16", "batch_size=4", "threads=1", "held_out=8", "device=cpu"]


@pytest.fixture
def call(tmp_path, monkeypatch, capsys):
    """Runs a command and returns what it printed."""
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    return caller(monkeypatch, capsys)


def test_a_run_is_trained_listed_and_exported(call, tmp_path):
    printed = call("run", "--task", "reverse", "--name", "mine", settings=[*SMALL, "steps=4"])
    assert "trains on the CPU with 1 thread" in printed
    assert "held out at step 4: loss " in printed
    run = find_run("mine")
    assert run.checkpoint().step == 4
    listed = call("list").splitlines()
    assert listed[0].split() == ["RUN", "TASK", "STATE", "STEP", "HELD-OUT", "LOSS", "BEST", "NAME"]
    assert listed[1].split()[6] == f"{run.metrics()[-1]['validation']['loss']:.4f}"
    assert listed[1].split()[:6] == [run.id, "reverse", "finished", "4", "of", "4"]
    wrote = f"wrote {tmp_path}/kept/{run.id}.safetensors\n"
    assert call("export", "mine", "--out", tmp_path / "kept") == wrote
    loaded = load_model(tmp_path / "kept")
    assert loaded.task == run.config().task
    weights = run.model().state_dict()
    assert all(torch.equal(weights[name], value) for name, value in loaded.model.state_dict().items())
    card = loaded.card
    assert card["metrics"] == run.metrics()[-1]["validation"]
    assert card["training"]["steps"] == card["training"]["step"] == 4
    assert card["showcase"]["stack"] == "decoder.self"
    assert card["license"] == "MIT"  # its data are made by this project's code
    rows = list(csv.DictReader((tmp_path / "kept" / "metrics.csv").open()))
    assert [float(row["loss"]) for row in rows] == [line["loss"] for line in run.metrics()]
    assert float(rows[-1]["validation.exact match"]) == card["metrics"]["exact match"]
    assert json.loads((tmp_path / "kept" / "config.json").read_text()) == run.description()


def test_an_export_to_other_programs_computes_the_same(call, tmp_path):
    call("run", "--task", "reverse", "--name", "mine", settings=[*SMALL, "steps=1", "positions=alibi"])
    with pytest.raises(SystemExit, match=r"positions=.alibi., but GPT-2 has .* export it as ONNX"):
        call("export", "mine", "--out", tmp_path / "no", "--format", "transformers")
    assert not (tmp_path / "no").exists()
    call("run", "--task", "reverse", "--name", "other", settings=[*SMALL, "steps=1", "positions=learned"])
    printed = call("export", "other", "--out", tmp_path / "hub", "--format", "transformers")
    assert printed == f"wrote {tmp_path}/hub/model.safetensors\n"
    ids = torch.tensor([[3, 4, 5, 6]])
    net = AutoModelForCausalLM.from_pretrained(tmp_path / "hub")
    own = find_run("other").model()(ids)
    torch.testing.assert_close(net(ids).logits, own, atol=1e-5, rtol=1e-5)
    said = (tmp_path / "hub" / "README.md").read_text()
    assert "GPT2LMHeadModel.from_pretrained" in said and "Licence: MIT." in said
    assert json.loads((tmp_path / "hub" / "run.json").read_text()) == find_run("other").description()
    assert json.loads((tmp_path / "hub" / "config.json").read_text())["model_type"] == "gpt2"


@pytest.mark.usefixtures("unchecked_shapes")
@pytest.mark.parametrize("task", ["sentiment", "everyday"])
def test_the_lines_beside_an_onnx_file_make_ids_of_a_text_and_answer(call, tmp_path, monkeypatch, task):
    settings = [*SMALL, "steps=1"]
    if task == "everyday":
        pairs = [f"the {word} sat {at}\tle {word} assis {at}" for at in range(40) for word in ("cat", "dog")]
        (tmp_path / "pairs.tsv").write_text("\n".join(pairs))
        settings.append(f"file={tmp_path / 'pairs.tsv'}")
    call("run", "--task", task, "--name", "mine", settings=settings)
    command = ["export", "mine", "--format", "onnx", "--out", str(tmp_path / "onnx")]
    if task != "sentiment":  # a graph takes seconds
        monkeypatch.setattr("attention_lab.models.zoo.model_file.write_onnx", lambda model, path: 0.0)
    call(*command)
    (lines,) = re.findall(r"```python\n(.*?)```", (tmp_path / "onnx" / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path / "onnx")
    names = {}
    exec(lines if task == "sentiment" else lines.partition("session")[0], names)
    config, model = find_run("mine").config(), find_run("mine").model()
    read = [torch.tensor(names[each]) for each in ("tokens", "source", "target") if each in names]
    assert torch.equal(read[0], config.task.read_by(model, config.task.probe().text).inputs[0])
    with torch.no_grad():
        logits = model(*read).numpy()
    if task == "sentiment":
        np.testing.assert_allclose(names["logits"], logits, atol=1e-5, rtol=1e-4)
        assert names["names"] == ["negative", "positive"]


def test_an_export_of_own_data_has_no_path_and_no_licence_of_ours(call, tmp_path):
    text = tmp_path / "my folder" / "diary.txt"
    text.parent.mkdir()
    text.write_text("the cat sat on the mat. " * 80)
    own = [*SMALL, "steps=1", f"file={text}", "length=16"]
    call("run", "--task", "language-model", "--name", "own", settings=own)
    call("export", "own", "--out", tmp_path / "kept")
    card = json.loads((tmp_path / "kept" / "card.json").read_text())
    assert card["license"] == "not stated"
    assert card["task"]["options"]["file"] == "diary.txt"
    assert "--set file=diary.txt" in card["training"]["command"]
    for path in (tmp_path / "kept").glob("*.[jc]s*"):  # card.json, config.json, metrics.csv
        assert str(tmp_path) not in path.read_text(), path.name
    assert load_model(tmp_path / "kept").task.read("the cat").tokens["decoder"] == list("the cat")


@pytest.mark.parametrize("positions", ["learned", "sinusoidal", "rotary"])
def test_a_card_says_how_embeddings_and_positions_are_scaled(positions):
    config = configured("reverse", [f"positions={positions}", "n_layers=1", "d_model=16"]).model
    model = Transformer(config, seed=0).eval()
    said = scaling(config)
    trace = Trace()
    model(torch.tensor([[3, 1, 2]]), trace=trace)
    rows = model.embedding.weight[torch.tensor([3, 1, 2])] * said["embedding"]
    if positions == "learned":
        rows = rows + said["positions"] * model.decoder.positions.embedding.weight[:3]
    elif positions == "sinusoidal":
        rows = rows + said["positions"] * sinusoids(3, 16).float()
    else:
        assert said["positions"] is None
    torch.testing.assert_close(trace["decoder.0.resid_pre"], rows)
    q, k = trace["decoder.0.self.q"], trace["decoder.0.self.k"]
    scores = trace["decoder.0.self.scores"]
    torch.testing.assert_close(scores[:, 2, 0], (q[:, 2] * k[:, 0]).sum(-1) * said["dot_products"])


def test_a_stopped_run_says_how_to_go_on(call, monkeypatch, tmp_path):
    monkeypatch.setattr(Watch, "asked", property(lambda watch: "pause" if watch.step >= 2 else ""))
    printed = call("run", "--task", "reverse", "--out", tmp_path / "here", settings=[*SMALL, "steps=5"])
    assert (
        f"paused at step 2; go on with: python -m attention_lab.models.training resume {tmp_path}/here"
        in printed
    )
    monkeypatch.setattr(Watch, "asked", property(lambda watch: ""))
    assert "held out at step 5" in call("resume", tmp_path / "here")


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        (["threads=4000"], "threads=4,000, but this machine has"),
        (["d_model=1000000", "n_heads=1", "d_ff=8"], "of memory, but .* are free; (try|no single change)"),
        (["file=/nowhere/text.txt"], "'text.txt' cannot be read"),
    ],
)
def test_a_refused_run_leaves_no_folder(call, tmp_path, settings, sentence):
    with pytest.raises(SystemExit, match=sentence):
        call("run", "--task", "language-model", settings=settings)
    with pytest.raises(SystemExit, match="is no name for a run"):
        call("run", "--task", "reverse", "--name", "n" * 81, settings=SMALL)
    assert not (tmp_path / "runs").exists() or not list((tmp_path / "runs").iterdir())


def test_tasks_are_printed_with_their_options(call):
    printed = call("tasks")
    assert all(f"{name}: {kind.title} ({kind.kind})" in printed for name, kind in TASKS.items())
    assert "length=8  letters of the longest question" in printed


def test_listing_runs_needs_no_torch(call, tmp_path):
    call("run", "--task", "reverse", "--out", tmp_path / "runs" / "mine", settings=[*SMALL, "steps=1"])
    lists = "import sys; from attention_lab.models.runs.command_line import main; main()"
    code = f"{lists}; sys.exit('torch' in sys.modules)"
    listed = subprocess.run([sys.executable, "-c", code, "list"], capture_output=True, text=True)
    assert listed.returncode == 0 and listed.stdout.splitlines()[1].startswith("mine  reverse  finished")


@pytest.mark.parametrize("place", ["{}/runs", "s3://bucket/runs"])
def test_what_is_no_folder_of_runs_is_said(call, tmp_path, monkeypatch, place):
    (tmp_path / "runs").write_text("")
    monkeypatch.setenv("ATTENTION_LAB_RUNS", place.format(tmp_path))
    url = f"ATTENTION_LAB_RUNS='{place}' is a URL, but runs need a folder; mount the store"
    file = f"'{tmp_path}/runs' is a file, but runs need a folder; let ATTENTION_LAB_RUNS name a folder"
    for words, settings in ((["list"], ()), (["show", "mine"], ()), (REVERSE, [*SMALL, "steps=1"])):
        with pytest.raises(SystemExit, match=f"error: {url if place.startswith('s3') else file}"):
            call(*words, settings=settings)


@pytest.mark.parametrize(
    ("words", "settings", "text"),
    [
        (["run", "--task", "revers"], [], "task='revers' is unknown; did you mean reverse?"),
        (REVERSE, ["n_head=3"], "'n_head' is nothing that can be set; did you mean n_heads"),
        (REVERSE, ["steps"], "'steps' sets nothing; write it as name=value"),
        (REVERSE, ["n_heads=3"], "d_model=64 is not divisible by n_heads=3; try 63 or 66"),
        (REVERSE, ["vocab_size=9"], "vocab_size follows from task 'reverse' .* length"),
        (REVERSE, ["steps=" + "[" * 100_000], r"steps='\[{59}… \(100,002 characters\) is no whole"),
        (REVERSE, ["steps=1" + "0" * 400], r"steps=10{59}… \(401 characters\) is not within 1 to 10,000,000"),
        (REVERSE, ["d_model=1" + "0" * 400], "d_model=.* is not within 1 to 1,000,000,000"),
        (REVERSE, ["threads=4000"], "threads=4,000, but this machine has [0-9]+ cores?; try [0-9]+, or 0"),
        (["resume", "nothing"], [], "there is no run 'nothing'; the latest are: none"),
        (["evaluate", "no-such-model"], [], "'no-such-model' is no shipped model"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence(call, words, settings, text):
    with pytest.raises(SystemExit, match=f"error: {text}"):
        call(*words, settings=settings)


def test_settings_find_their_place_and_their_kind():
    run = configured(
        "reverse",
        ["length=6", "n-heads=2", "dropout=0.1", "steps=2e3", "compile=true", "d_ff=none", "bias=False"],
    )
    assert run.task == make_task("reverse", {"length": 6})
    assert (run.model.n_heads, run.model.dropout, run.model.bias) == (2, 0.1, False)
    assert run.model.d_ff == 4 * run.model.d_model
    assert (run.training.steps, run.training.compile) == (2_000, True)
    assert configured("reverse", ["compile=auto"]).training == configured("reverse", []).training


@pytest.mark.parametrize(
    "settings", [[], ["n_heads=2", "length=6", "learning_rate=0.01"], ["d_ff=100"], ["normalizer=sigmoid"]]
)
def test_the_command_of_a_run_makes_the_same_run(settings):
    run = configured("reverse", settings)
    words = command_of(run).split()
    assert words[:6] == ["python", "-m", "attention_lab.models.training", "run", "--task", "reverse"]
    assert configured("reverse", words[7::2]) == run


def test_a_translator_of_the_grammar_gets_its_own_card(call, tmp_path, monkeypatch):
    monkeypatch.setattr(export, "_SENTENCES", 6)
    call("run", "--task", "translation", "--out", tmp_path / "run", settings=[*SMALL, "steps=2"])
    call("export", tmp_path / "run", "--out", tmp_path / "kept", "--name", "translator")
    loaded = load_model(tmp_path / "kept")
    assert loaded.config.d_model == 16
    assert loaded.card["metrics"]["sentences"] == 6
    assert loaded.read("i am a student").answer is not None
    assert "--set steps=2" in loaded.card["training"]["command"]
    assert call("evaluate", tmp_path / "kept", "--sentences", "6").startswith("6 held-out sentences")


OLD = [
    (7.911349773406982, 7.8361287117004395, 1.7255300283432007),
    (7.920413970947266, 7.876867771148682, 1.6857194900512695),
]
"""Losses and gradient norms of the loop that trained the shipped translator, its first steps."""


def test_the_shipped_translator_is_still_trained_alike():
    card = load_model("translator").card
    old = card["training"]
    names = ("steps", "batch_size", "learning_rate", "warmup_steps", "weight_decay", "clip", "seed")
    training = {name: old[name] for name in names} | {"threads": 1, "validate_every": 9_999}
    options = {"antecedent_weight": old["antecedent_weight"]}
    run = run_config(make_task("translation", options), training=training)
    assert {name: run.model.to_dict()[name] for name in old["model"]} == old["model"]
    for record, numbers in zip(islice(Training(run), len(OLD)), OLD, strict=True):
        found = (record.losses["translation"], record.losses["antecedent"], record.gradient_norm)
        assert found == pytest.approx(numbers, rel=1e-5)


def test_a_file_is_found_from_every_folder(tmp_path, monkeypatch):
    (tmp_path / "my.txt").write_text("to be or not to be\n" * 100)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for typed in ("my.txt", "./my.txt", "~/my.txt", str(tmp_path / "my.txt")):
        run = configured("language-model", [f"file={typed}"])
        assert run.task.to_dict()["file"] == str(tmp_path / "my.txt")


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
    assert "no runs yet" in call("list", "--filter", "needle")
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
    assert first == "“fast-0 (and 2 more)” is better than the other."
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


def test_what_cannot_be_trained_further_is_said_and_leaves_nothing(call, base, tmp_path):
    for settings, said in (
        (["n_heads=4"], "n_heads belongs to the weights and cannot change"),
        (["learning_rate=99"], "learning_rate=99 is not within"),
        (["rate=1"], "'rate' is nothing that can be set"),
    ):
        with pytest.raises(SystemExit, match=said):
            call("further", "base", "--steps", 9, settings=settings)
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
    assert matches("seed fail", {"task": {"name": "reverse"}, "tags": ["seed 1", 4]}, "failed")
    assert not matches("reverse", {"name": "x"}, "failed")


def test_a_rate_is_found(call):
    small = ["n_layers=1", "d_model=16", "batch_size=4", "held_out=8", "device=cpu", "threads=1"]
    printed = call("find-rate", "--task", "reverse", "--steps", 40, settings=small).splitlines()
    assert printed[0].split() == ["RATE", "LOSS", "SMOOTHED"]
    assert printed[1].split()[0] == "1.00e-06"
    assert printed[-1].startswith(("try learning_rate=", "the loss has not fallen"))
