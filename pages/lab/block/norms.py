"""Part 3: layer norm and batch norm on the same tensor."""

import numpy as np
import torch
from torch import Tensor

from models.lessons.block import norms
from pages.lab.block.inputs import MOST_SHIFT, N_BATCHES, Inputs
from pages.lab.controls import Set
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from viz_core.boards import Board, Curves, Line, Matrix, Scrub
from viz_core.labels import decimal

N_FRAMES, CHANNEL = 21, 2
SHIFTS = np.linspace(0, MOST_SHIFT, N_FRAMES).round(2)
SEE = (
    "A batch holds sentences (s) with one row for each token (t). In each result, **the outlined cells were "
    "normalised together** with channel 2 of the first token: layer norm takes all channels of that token, "
    "batch norm that channel of all tokens. **Drag the slider** to move all sentences but the first away."
)
TRIES = (
    Try("move the companions", {"sentences": 3, "tokens": 3, "statistics": "batch", "shift": 4.0}),
    Try("one sentence, one token", {"sentences": 1, "tokens": 1, "statistics": "batch", "shift": 0.0}),
    Try("running statistics", {"sentences": 3, "tokens": 3, "statistics": "running", "shift": 4.0}),
)


def lesson(inputs: Inputs) -> Lesson:
    x = _moved(inputs, SHIFTS)
    layer, batch = norms.normalise(x, "layer"), _batch_norm(inputs, x)
    b, t, c = x.shape[1:]
    changes = {
        "layer norm": norms.largest_change(layer).numpy(), "batch norm": norms.largest_change(batch).numpy(),
    }  # fmt: skip
    running = inputs.statistics == "running"
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [
                    _matrix("the batch", x, np.zeros((b * t, c), dtype=bool)),
                    _matrix("layer norm", layer, _outlined(norms.averaged((b, t, c), "layer", 0, CHANNEL))),
                    _matrix(
                        "batch norm" + ", running statistics" * running, batch,
                        _outlined(norms.averaged((b, t, c), "batch", 0, CHANNEL)) & (not running),
                    ),
                ],
                [_change(changes)],
            ],
            notice=[_notice(inputs, changes, batch[at].mean().item(), at) for at in range(N_FRAMES)],
            scrub=Scrub(
                field="shift", label="other sentences moved by", values=SHIFTS,
                words=[f"{shift:.1f}" for shift in SHIFTS],
            ),
        ),
        formula=(
            r"\begin{gathered}y=\frac{x-\new{\mu}}{\sqrt{\new{\sigma}^2+\epsilon}}\\"
            r"\text{layer: }\new{\mu_{b,t}}=\frac1C\sum_c x_{b,t,c},\quad"
            r"\text{batch: }\new{\mu_c}=\frac1{B\,T}\sum_{b,t}x_{b,t,c}\end{gathered}"
        ),
        sizes=rf"B={b},\; T={t},\; C={c},\; \epsilon=10^{{-5}}",
        shapes=(
            Shape("x,\\;y", "sentence, token, channel", (b, t, c)),
            Shape(r"\mu_{b,t},\;\sigma_{b,t}\ \text{(layer)}", "sentence, token", (b, t)),
            Shape(r"\mu_c,\;\sigma_c\ \text{(batch)}", "channel", (c,)),
        ),
        code=(norms.normalise, norms.with_running, norms.trained_on, norms.companions_moved, norms.sentences),
    )  # fmt: skip


def _moved(inputs: Inputs, shifts: np.ndarray) -> Tensor:
    x = norms.sentences(inputs.sentences, inputs.tokens, inputs.seed)
    return norms.companions_moved(x, torch.from_numpy(shifts).float())


def _batch_norm(inputs: Inputs, x: Tensor) -> Tensor:
    if inputs.statistics == "batch":
        return norms.normalise(x, "batch")
    return norms.with_running(x, norms.trained_on(norms.batches(N_BATCHES, inputs.seed)))


def _matrix(title: str, x: Tensor, marked: np.ndarray) -> Matrix:
    """[frame, sentence, token, channel] as a row for each token."""
    _, b, t, c = x.shape
    return Matrix(
        title=title, values=x.flatten(1, 2).numpy(), marked=marked, digits=1,
        rows=[f"s{i + 1} t{j + 1}" for i in range(b) for j in range(t)], row_axis="sentence, token",
        columns=[f"c{j}" for j in range(c)], column_axis="channel",
    )  # fmt: skip


def _outlined(mask: Tensor) -> np.ndarray:
    outlined: np.ndarray = mask.flatten(0, 1).numpy()
    return outlined


def _change(changes: dict[str, np.ndarray]) -> Curves:
    return Curves(
        x=SHIFTS, at=SHIFTS, title="how far sentence 1's result moves, though the sentence stays",
        x_label="other sentences moved by", y_label="largest change",
        y_range=(0.0, max(1.0, 1.05 * float(max(change.max() for change in changes.values())))),
        lines=[
            Line(y=changes["layer norm"], name="layer norm"),
            Line(y=changes["batch norm"], name="batch norm", colour="muted", dashed=True),
        ],
    )  # fmt: skip


def _notice(inputs: Inputs, changes: dict[str, np.ndarray], mean: float, at: int) -> str:
    """What a frame shows: how far sentence 1 moved, and the mean of the batch after batch norm."""
    shift = float(SHIFTS[at])
    layer, batch = changes["layer norm"][at], changes["batch norm"][at]
    numbers = inputs.sentences * inputs.tokens
    if numbers == 1 and inputs.statistics == "batch":
        return (
            "One token is its channel's own mean: batch norm leaves **0** in every channel, whatever was "
            "there. A decoder that writes word by word would need running statistics; layer norm needs none."
        )
    if inputs.sentences == 1:
        here = f"averages the **{numbers}** numbers of each channel here"
        remembered = f"takes averages over **{N_BATCHES}** batches of training"
        return (
            "Sentence 1 is alone, so there is nothing else to move. Batch norm "
            f"{here if inputs.statistics == 'batch' else remembered}."
        )
    if shift == 0:
        return (
            f"Layer norm averages the **6** numbers of a token, batch norm the **{numbers}** numbers of a "
            "channel. Move the other sentences, and look at the rows of sentence 1."
        )
    if inputs.statistics == "running":
        return (
            f"The others moved by {shift:.1f}, sentence 1 by **{batch:.2f}** under batch norm: remembered "
            "averages do not depend on the batch. Nor do they fit it: its mean comes out as "
            f"**{decimal(mean)}**, not 0."
        )
    return (
        f"The others moved by {shift:.1f}: sentence 1's result moves by **{batch:.2f}** under batch norm, by "
        f"**{layer:.2f}** under layer norm, which looks at one token and nothing else."
    )


def questions() -> tuple[Question, ...]:
    shifts = np.array([0.0, MOST_SHIFT])
    x = _moved(Inputs(), shifts)
    layer, batch = (norms.largest_change(norms.normalise(x, axis))[1].item() for axis in ("layer", "batch"))
    alone = norms.normalise(norms.sentences(1, 1, 0), "batch").abs().max().item()
    rows = norms.averaged((8, 100, 512), "layer", 0, 0).sum().item()
    columns = norms.averaged((8, 100, 512), "batch", 0, 0).sum().item()
    return (
        Question(
            "8 sentences of 100 tokens, 512 channels: how many numbers does layer norm average for one mean?",
            ("800", "512", "8"),
            ["800", "512", "8"].index(str(rows)),
            f"{rows}, the channels of one token; batch norm takes {columns}, one channel of all tokens.",
        ),
        Question(
            f"The other sentences of the batch move by {MOST_SHIFT:.0f}. Whose result for sentence 1 "
            "changes?",
            ("layer norm's", "both", "batch norm's"),
            2 if batch > 0.1 > layer else 1,
            f"Batch norm's, by {batch:.2f}: its mean and deviation are those of the whole batch. Layer "
            f"norm's changes by {layer:.2f}.",
        ),
        Question(
            "Batch norm in training mode reads a single token. What comes out?",
            ("0 in every channel", "the token as it is", "the same as layer norm's"),
            0 if alone == 0 else 1,
            f"The largest number is {alone:g}: x minus its own mean. PyTorch refuses this case with an "
            "error.",
        ),
    )


PART = Part(
    "norms", "Layer or batch",
    ("sentences", "tokens", "statistics", Set("seed", {"help": "Draws other random vectors"})),
    lesson, TRIES, questions, scrub="shift",
)  # fmt: skip
