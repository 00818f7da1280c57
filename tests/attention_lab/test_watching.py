"""Trainings of a person's own, watched: a plain loop, transformers' Trainer, Lightning, any module."""

import copy
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch import Tensor, nn
from torch.nn import functional as F

from attention_lab import watch
from attention_lab.models.runs import command_line, jobs
from attention_lab.models.runs.folder import (
    RunFolder,
    Status,
    find_run,
    judge,
    list_runs,
    read_status,
    write_status,
)
from attention_lab.models.runs.jobs import LocalBackend
from attention_lab.models.runs.owners import MACHINE
from attention_lab.models.runs.queue import JobRefused
from attention_lab.pages.runs import listing, scrubber
from attention_lab.pages.shared.training.runs import Run
from tests.models.zoo.hub import families

STEPS, EVERY = 20, 5
Held = tuple[transformers.PreTrainedModel, transformers.PreTrainedTokenizerBase]


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("ATTENTION_LAB_RUNS", str(tmp_path / "runs"))
    return tmp_path / "runs"


@pytest.fixture
def held(tmp_path: Path) -> Held:
    """A tiny GPT-2 that drops weights while it is trained."""
    families.save("gpt2", tmp_path / "gpt2")
    net = transformers.GPT2LMHeadModel.from_pretrained(tmp_path / "gpt2").train()
    return net, transformers.AutoTokenizer.from_pretrained(tmp_path / "gpt2")


def trained(net: nn.Module, ids: Tensor, after: Any) -> dict[int, dict[str, Tensor]]:
    """Twenty steps of a plain loop; the weights after each."""
    torch.manual_seed(0)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    weights = {0: copy.deepcopy(net.state_dict())}
    for step in range(1, STEPS + 1):
        loss = net(ids, labels=ids).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        after(loss)
        weights[step] = copy.deepcopy(net.state_dict())
    return weights


def assert_heads_are_those_of(run: RunFolder, step: int, net: nn.Module, ids: Tensor) -> None:
    """They equal what transformers' own eager attention gives of these weights."""
    net.set_attn_implementation("eager")  # type: ignore[operator]
    with torch.no_grad():
        attentions = net.eval()(ids, output_attentions=True).attentions
    snapshot = run.snapshot(step)
    assert sorted(snapshot) == [f"decoder.{layer}.self.pattern" for layer in range(len(attentions))]
    for layer, attention in enumerate(attentions):
        torch.testing.assert_close(
            snapshot[f"decoder.{layer}.self.pattern"], attention[0].half(), atol=1e-3, rtol=0
        )


def test_a_plain_loop_is_a_run_with_the_heads_of_its_steps(held: Held) -> None:
    net, tokenizer = held
    ids = tokenizer(families.TEXT, return_tensors="pt")["input_ids"]
    alone = trained(copy.deepcopy(net), ids, lambda loss: None)
    with watch(net, tokenizer, families.TEXT, name="mine", every=EVERY, steps=STEPS) as w:
        weights = trained(net, ids, lambda loss: w.step(loss=loss, lr=1e-2, gradient_norm=float("nan")))
        assert net.training and read_status(w.folder.path).state == "running"
    assert all(torch.equal(weights[STEPS][name], alone[STEPS][name]) for name in alone[STEPS])
    (run,) = list_runs()
    assert run.name == "mine" and find_run("mine").id == run.id
    status = read_status(run.path)
    assert (status.state, status.step, status.steps) == ("finished", STEPS, STEPS)
    assert run.snapshots() == [0, 5, 10, 15, 20]
    records = run.metrics()
    assert [each["step"] for each in records] == list(range(1, STEPS + 1))
    assert records[-1]["loss"] < records[0]["loss"] and records[0]["learning_rate"] == 1e-2
    assert "gradient_norm" not in records[0]
    assert not torch.equal(
        run.snapshot(0)["decoder.0.self.pattern"], run.snapshot(10)["decoder.0.self.pattern"]
    )
    for step in (0, 10, 20):
        net.load_state_dict(weights[step])
        assert_heads_are_those_of(run, step, net, ids)


def test_the_page_runs_scrubs_through_it(held: Held) -> None:
    net, tokenizer = held
    ids = tokenizer(families.TEXT, return_tensors="pt")["input_ids"]
    with watch(net, tokenizer, families.TEXT, every=EVERY) as w:
        trained(net, ids, lambda loss: w.step(loss))
    board = scrubber.scrubbed(Run(w.folder.id, w.folder))
    assert board.scrub is not None and list(board.scrub.values) == [0, 5, 10, 15, 20]
    assert board.notice[0].startswith("**Step 0:** as the model was given.\n")
    assert board.rows[0][0].title == "loss"
    watch(net, tokenizer, families.TEXT).close()
    rows = listing.grouped([Run(run.id, run) for run in list_runs()])
    assert [row.together for row in rows] == [None, None]  # not two seeds of one configuration


def test_the_command_line_tells_of_a_watched_run_what_is_known_of_it(
    held: Held, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(*words: str) -> str:
        monkeypatch.setattr("sys.argv", ["training", *words])
        command_line.main()
        return capsys.readouterr().out

    for name in ("mine", "other"):
        with watch(*held, families.TEXT, name=name) as w:
            w.step(1.0, validation={"loss": 2.0})
    assert "damaged" not in (listed := told("list"))
    assert listed.count("1 of 1") == 2 and listed.count("2.0000") == 2
    shown = told("show", "mine")
    assert "finished, step 1 of 1" in shown and "n_layers" in shown
    assert not any(word in shown for word in ("batch_size", "learning_rate", "vocab_size", "seed"))
    assert "mine" in told("compare", "mine", "other")
    export = ("export", "mine", "--out", str(tmp_path / "out"))
    for words in (("report", "mine"), export, ("resume", "mine"), ("further", "mine", "--steps", "9")):
        with pytest.raises(SystemExit, match=r"(?s)^error: .*mine.*watched"):
            told(*words)
    with pytest.raises(ValueError, match="'mine' was watched while a program trained it"):
        jobs.extend(find_run("mine").id, 9, by=MACHINE)


def test_transformers_trainer_is_watched_by_its_callback(held: Held, tmp_path: Path) -> None:
    pytest.importorskip("accelerate", reason="transformers' Trainer needs accelerate: pip install accelerate")
    net, tokenizer = held
    ids = tokenizer(families.TEXT, return_tensors="pt")["input_ids"]
    rows = [{"input_ids": ids[0], "labels": ids[0]}] * (2 * STEPS)
    how = transformers.TrainingArguments(
        tmp_path / "out", max_steps=STEPS, per_device_train_batch_size=2, logging_steps=2, report_to=[],
        save_strategy="no", use_cpu=True, learning_rate=1e-2, eval_strategy="steps", eval_steps=10,
        disable_tqdm=True,
    )  # fmt: skip
    w = watch(net, tokenizer, families.TEXT, name="of Trainer", every=EVERY)
    weights: dict[int, dict[str, Tensor]] = {}

    class Keep(transformers.TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **more: Any) -> None:
            weights[state.global_step] = copy.deepcopy(net.state_dict())

    callbacks = [w.callback(), Keep()]
    transformers.Trainer(net, how, train_dataset=rows, eval_dataset=rows[:2], callbacks=callbacks).train()
    (run,) = list_runs()
    assert read_status(run.path).state == "finished" and run.snapshots() == [0, 5, 10, 15, 20]
    records = run.metrics()
    assert [each["step"] for each in records if "loss" in each] == list(range(2, STEPS + 1, 2))
    assert [each["step"] for each in records if "validation" in each] == [10, 20]
    assert all({"learning_rate", "gradient_norm"} <= set(each) for each in records if "loss" in each)
    net.load_state_dict(weights[10])
    assert_heads_are_those_of(run, 10, net, ids)


class Own(nn.Module):
    """Two layers of attention, causal or not, and what Lightning asks of a module."""

    def __init__(self, causal: bool) -> None:
        super().__init__()
        self.embed = nn.Embedding(7, 8)
        self.maps = nn.ModuleList(nn.Linear(8, 24) for _ in range(2))
        self.drop, self.causal = nn.Dropout(0.5), causal

    def forward(self, ids: Tensor) -> Tensor:
        x = self.drop(self.embed(ids))
        for layer in self.maps:
            q, k, v = (
                layer(x).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
            )  # [batch, head, position, d_head]
            x = x + F.scaled_dot_product_attention(q, k, v, is_causal=self.causal).transpose(1, 2).flatten(2)
        return x


def read(probe: str) -> tuple[list[str], Tensor]:
    return list(probe), torch.tensor([[ord(letter) - ord("a") for letter in probe]])


@pytest.mark.parametrize("causal", [False, True])
def test_a_module_of_ones_own_is_watched_by_what_it_captures(causal: bool) -> None:
    net = Own(causal).train()
    w = watch(net, read, "abcd", every=1)
    with torch.no_grad():
        net.maps[0].weight.mul_(3)
    w.step()
    w.close()
    assert net.training and net.drop.training
    side = "decoder" if causal else "encoder"
    assert w.folder.probe()["tokens"] == {side: ["a", "b", "c", "d"]}
    snapshot = w.folder.snapshot(1)
    assert sorted(snapshot) == [f"{side}.0.self.pattern", f"{side}.1.self.pattern"]
    q, k, _ = net.maps[0](net.embed(read("abcd")[1])).unflatten(-1, (3, 2, 4)).permute(2, 0, 3, 1, 4)
    scores = q @ k.mT / 2  # [batch, head, query, key]
    scores = scores.masked_fill(torch.ones(4, 4).triu(1).bool(), -torch.inf) if causal else scores
    torch.testing.assert_close(
        snapshot[f"{side}.0.self.pattern"], scores.softmax(-1)[0].half(), atol=1e-3, rtol=0
    )


def test_tensors_that_replace_others_are_followed(held: Held) -> None:
    net, tokenizer = held
    ids = tokenizer(families.TEXT, return_tensors="pt")["input_ids"]
    w = watch(net, tokenizer, families.TEXT, every=1)
    attention = net.transformer.h[0].attn.c_attn
    attention.weight = nn.Parameter(attention.weight.detach() * 5)
    w.step()
    assert_heads_are_those_of(w.folder, 1, net, ids)


def test_what_cannot_be_watched_is_refused_in_words_before_the_training(held: Held) -> None:
    with pytest.raises(ValueError, match="Linear called neither"):
        watch(nn.Linear(2, 2), lambda probe: (list(probe), torch.ones(1, 2)), "ab")
    with pytest.raises(ValueError, match="no attention between the 2 tokens of the probe was seen in Own"):
        watch(Own(True), lambda probe: (["a", "b"], read(probe)[1]), "abcd")
    with pytest.raises(ValueError, match="every=0 keeps no heads"):
        watch(*held, families.TEXT, every=0)
    assert list_runs() == []


def test_an_error_of_the_watch_is_a_warning_and_one_of_the_training_is_told(root: Path) -> None:
    net = Own(False)
    w = watch(net, read, "abcd", every=1)
    w.folder.delete()
    with pytest.warns(UserWarning, match="the training goes on unwatched"):
        w.step(1.0)
    w.step(1.0)
    w = watch(net, read, "abcd")
    w.step(1.0)
    w.folder.delete()
    with pytest.warns(UserWarning, match="the end of the training was not noted"):
        w.close()
    with pytest.raises(ZeroDivisionError), watch(net, read, "abcd") as other:
        _ = 1 / 0
    status = read_status(other.folder.path)
    assert (status.state, status.sentence) == ("failed", "ZeroDivisionError: division by zero")
    with pytest.raises(KeyboardInterrupt), watch(net, read, "abcd") as third:
        raise KeyboardInterrupt
    assert read_status(third.folder.path).state == "stopped"


def test_a_watched_run_lives_as_long_as_its_program_and_hears_no_requests(root: Path) -> None:
    w = watch(Own(False), read, "abcd")
    live = read_status(w.folder.path)
    assert judge(live, None, now=live.heartbeat + 1e6, alive=lambda process: True).state == "running"
    dead = judge(live, None, now=live.heartbeat, alive=lambda process: False)
    assert (dead.state, dead.sentence) == ("stopped", "the program that trained it ended without a word")
    with pytest.raises(JobRefused, match="a program of your own trains it"):
        LocalBackend(root).stop(w.folder.id)
    write_status(w.folder.path, Status(state="finished", watched=True))
    w.close()


def test_lightning_is_watched_by_its_callback() -> None:
    lightning = pytest.importorskip("pytorch_lightning", reason="needs Lightning: pip install lightning")

    class Module(lightning.LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.net = Own(True)

        def training_step(self, batch: Tensor, at: int) -> Tensor:
            return self.net(batch).pow(2).mean()

        def validation_step(self, batch: Tensor, at: int) -> None:
            self.log("val_loss", self.net(batch).pow(2).mean())

        def configure_optimizers(self) -> Any:
            return torch.optim.Adam(self.parameters(), lr=0.01)

    module = Module()
    w = watch(module.net, read, "abcd", every=EVERY)
    quiet = dict.fromkeys(
        ("enable_progress_bar", "enable_checkpointing", "logger", "enable_model_summary"), False
    )
    rows = torch.utils.data.DataLoader([read("abcd")[1]] * 10, batch_size=None)  # type: ignore[arg-type]
    trainer = lightning.Trainer(max_epochs=2, accelerator="cpu", callbacks=[w.callback("lightning")], **quiet)
    trainer.fit(module, rows, rows)
    records = w.folder.metrics()
    assert [each["step"] for each in records if "loss" in each] == list(range(1, 21))
    assert [each["step"] for each in records if "validation" in each] == [10, 20]
    assert read_status(w.folder.path).state == "finished" and w.folder.snapshots() == [0, 5, 10, 15, 20]


def test_the_figure_of_a_notebook_follows_the_training() -> None:
    pytest.importorskip("anywidget", reason="needs anywidget: pip install 'attention-lab[notebook]'")
    from tests.attention_lab.test_notebook import parts_of

    net = Own(False)
    w = watch(net, read, "abcd", every=1)
    figure = w.figure
    first = parts_of(figure.message)[0]
    w._drawn = 0.0
    with torch.no_grad():
        net.maps[0].weight.mul_(3)
    w.step(1.0)
    second = parts_of(figure.message)[0]
    assert second["part"] == first["part"] and w.figure is figure
    assert first["board"]["scrub"] is None and second["scrub"]["at"] == 1.0
    w.step(0.5)
    w.close()
    assert parts_of(figure.message)[0]["scrub"]["at"] == 2.0
