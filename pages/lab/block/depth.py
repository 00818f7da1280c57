"""Part 2: what 1 to 48 layers do to the stream on its way up, and to the gradient on its way down."""

from typing import Any

import numpy as np

from models import Transformer
from models.engine.layers import Layer
from models.lessons.block import depth
from models.lessons.block.depth import Signals, Switches, deep_model
from pages.lab.block import switches
from pages.lab.block.inputs import DEPTHS, Inputs
from pages.lab.block.switches import SWITCHES
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.shared import cache
from viz_core.boards import Board, Colour, Curves, Line, Scrub
from viz_core.labels import short

SEE = (
    "Stacks of 1 to 48 layers with **random weights**, as before training, run once forward and once "
    "backward. On the left: what the residual stream carries after each layer. On the right: the gradients "
    "that come back. Xiong et al. (2020) proved how they depend on the norm. **Drag the slider to a depth.**"
)
TRIES = (
    Try("no norm, no residual", {"residual": False, "norm": "none", "depth": 48}),
    Try("the paper's post-norm", {**switches.USUAL, "norm": "post", "depth": 48}),
    Try("norm, but no residual", {**switches.USUAL, "residual": False, "depth": 24}),
)
SMALLEST, ROUNDING = 1e-30, 1e-14


def lesson(inputs: Inputs) -> Lesson:
    chosen = _switches(inputs)
    signals = depth.measure(_model(chosen), inputs.seed)
    n, d, width = depth.N_TOKENS, depth.D_MODEL, chosen.ff * depth.D_MODEL
    matrix = ("W_2", "d_ff, d_model", (width, d)) if chosen.ff else ("W_O", "h · d_head, d_model", (d, d))
    return Lesson(
        see=SEE,
        board=Board(
            rows=_rows(signals, chosen),
            notice=[_notice(signals, chosen, at) for at in range(len(DEPTHS))],
            scrub=Scrub(field="depth", label="layers", values=np.array(DEPTHS), speed=2),
        ),
        formula=(
            r"\begin{gathered}\Big\lVert\frac{\partial\mathcal{L}}{\partial W_2^{(L)}}\Big\rVert\text{: }"
            r"O\!\left(d\sqrt{\ln d}\right)\text{ post-norm}\\"
            r"O\!\left(d\sqrt{\tfrac{\ln d}{L}}\right)\text{ pre-norm (theorem 1)}\\"
            r"\mathrm{Var}\,w=\tfrac{2}{\mathrm{fan_{in}}+\mathrm{fan_{out}}}"
            r"\text{ (Xavier), biases 0, gains 1}\end{gathered}"
        ),
        sizes=rf"n={n},\; d_{{model}}={d},\; d_{{ff}}={width},\; h={depth.N_HEADS}",
        shapes=(
            Shape("x_l", "stack, token, d_model", (len(DEPTHS), n, d)),
            Shape(r"\partial\mathcal{L}/\partial x_l", "stack, token, d_model", (len(DEPTHS), n, d)),
            Shape(rf"\partial\mathcal{{L}}/\partial {matrix[0]}", f"stack, {matrix[1]}", (11, *matrix[2])),
            Shape(r"\mathrm{logits}", "token, word", (n, depth.VOCABULARY)),
        ),
        code=(
            depth.measure, depth.config_of, depth.last_matrix, depth.apart, depth.sentence,
            Transformer.initialise, Layer._before, Layer._after,
        ),
    )  # fmt: skip


def _switches(inputs: Inputs) -> Switches:
    norm: Any = inputs.norm
    activation: Any = inputs.activation
    return Switches(inputs.residual, norm, inputs.ff, activation)


def _model(chosen: Switches) -> Transformer:
    """The deepest stack, kept because building it takes as long as measuring it; seeds redraw its weights."""

    def make() -> tuple[Transformer, int]:
        model = deep_model(chosen)
        return model, sum(parameter.nbytes for parameter in model.parameters())

    model: Transformer = cache.cached(cache.models, ("deep", chosen), make)
    return model


def _rows(signals: Signals, chosen: Switches) -> list[list[Curves]]:
    layers = np.arange(DEPTHS[-1] + 1)
    matrix = "W_2" if chosen.ff else "W_O"
    of_weights = np.pad(signals.weights.numpy(), ((0, 0), (1, 0)), constant_values=np.nan)
    last = _of_last_layer(signals)
    pictures = (
        ("length of the stream's vectors", "after layer", layers, [("length", signals.lengths.numpy())]),
        ("norm of the gradient", "layer", layers, [("of the stream", signals.stream.numpy()),
         (f"of {matrix}", of_weights)]),
        ("how much tokens differ, as a share of their size", "after layer", layers,
         [("share", signals.apart.numpy())]),
        (f"gradient of the last layer's {matrix}", "layers in the stack", np.array(DEPTHS),
         [("measured", last), ("as 1/√L", last[0] / np.sqrt(DEPTHS))]),
    )  # fmt: skip
    panels = [_curves(*picture) for picture in pictures]
    return [panels[:2], panels[2:]]


def _curves(title: str, x_label: str, x: np.ndarray, lines: list[tuple[str, np.ndarray]]) -> Curves:
    colours: tuple[Colour, ...] = ("accent", "muted")
    by_depth = x_label == "layers in the stack"
    return Curves(
        x=x.astype(float),
        lines=[
            Line(y=y, name=name, colour=colour, dashed=colour == "muted")
            for (name, y), colour in zip(lines, colours, strict=False)
        ],
        title=title, x_label=x_label, log_y=True, log_x=by_depth,
        y_range=_decades(np.concatenate([y.ravel() for _, y in lines])),
        at=np.array(DEPTHS, dtype=float) if by_depth else None,
    )  # fmt: skip


def _decades(values: np.ndarray) -> tuple[float, float]:
    """Whole powers of ten around all numbers, at least two."""
    found = values[np.isfinite(values) & (values > SMALLEST)]
    low, high = np.floor(np.log10(found.min())), np.ceil(np.log10(found.max()))
    return float(10 ** min(low, high - 2)), float(10**high)


def _of_last_layer(signals: Signals) -> np.ndarray:
    """[depth]: the gradient of the last matrix in the last layer of each stack."""
    return np.array([signals.weights[at, depth - 1].item() for at, depth in enumerate(DEPTHS)])


def _notice(signals: Signals, chosen: Switches, at: int) -> str:
    depth, last = DEPTHS[at], _of_last_layer(signals)
    longer = (signals.lengths[at, depth] / signals.lengths[at, 0]).item()
    back = (signals.stream[at, 0] / signals.stream[at, depth]).item()
    share, differ = last[at] / last[0], signals.apart[at, depth].item()
    layers = f"{depth} layer{'s' * (depth > 1)}"
    passed = (
        f"Through {layers} the vectors become **{short(longer)}** times as long and the gradient that comes "
        "back"
    )
    if chosen.norm == "none":
        how = (
            "each layer adds in proportion to what is there, and scores grow as its square"
            if chosen.residual
            else "each layer shrinks what passes, so the factors multiply"
        )
        return f"{passed} **{short(back)}** times as large: {how}."
    if not chosen.residual:
        left = short(differ) if differ > ROUNDING else "0, but for rounding,"
        return (
            f"After {layers} tokens differ by **{left}** of their size: attention averages them, and "
            "without residual nothing brings back what each was (Dong et al. 2021). The norm keeps only "
            "their lengths."
        )
    measured = f"The last layer's matrix gets **{share:.2f}** of the gradient that it gets in a stack of one"
    if chosen.norm == "pre":
        return f"{measured}; 1/√{depth} is {depth**-0.5:.2f}. {passed} **{short(back)}** times as large."
    return (
        f"{measured}: it does not shrink with depth (here {layers}), which Xiong et al. give as the reason "
        f"for warm-up. Tokens differ by **{short(differ)}** of their size."
    )


def questions() -> tuple[Question, ...]:
    pre, post, bare = (
        depth.measure(_model(depth.Switches(**fields)), seed=0)
        for fields in ({}, {"norm": "post"}, {"norm": "none", "residual": False})
    )
    kept, turned_down = (_of_last_layer(signals) for signals in (post, pre))
    reached = (bare.stream[-1, 0] / bare.stream[-1, -1]).item()
    apart, alike = (signals.apart[-1, -1].item() for signals in (pre, post))
    choices = {"all of it": 1.0, "about a hundredth": 1e-2, "less than a billionth": 1e-15}
    nearest = min(choices.values(), key=lambda size: abs(np.log10(size / reached)))
    return (
        Question(
            "With 48 layers and neither residual nor norm, how much of the gradient at the top reaches "
            "the bottom?",
            tuple(choices),
            list(choices.values()).index(nearest),
            f"{short(reached)} of it. Each layer multiplies it by a number below 1, 48 times over.",
        ),
        Question(
            "In which stack of 48 layers is the last layer's gradient as large as in a stack of one?",
            ("post-norm", "pre-norm", "both"),
            0 if kept[-1] / kept[0] > 0.5 > turned_down[-1] / turned_down[0] else 2,
            f"Post-norm: {kept[-1] / kept[0]:.2f} of it. Pre-norm: {turned_down[-1] / turned_down[0]:.2f}, "
            f"near 1/√48 = {48**-0.5:.2f}. Xiong et al. train pre-norm without warm-up.",
        ),
        Question(
            "In which stack of 48 layers, with residual, can the tokens still be told apart at the end?",
            ("post-norm", "both", "pre-norm"),
            2 if apart > 0.1 > alike else 1,
            f"They differ by {short(apart)} of their size with pre-norm, by {short(alike)} with post-norm: "
            "there the norm shrinks the stream's share at every layer, and what attention averages takes "
            "its place.",
        ),
    )


PART = Part("depth", "Depth and gradients", SWITCHES, lesson, TRIES, questions, scrub="depth")
