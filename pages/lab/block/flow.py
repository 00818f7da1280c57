"""Part 1: through one layer, point by point."""

from typing import Any, cast

import numpy as np

from models import ModelConfig, UntrainedModel
from models.engine.layers import FeedForward, Layer
from models.lessons.block import flow
from models.lessons.block.flow import (
    Block,
    Walk,
    mean_length,
    of_translator,
    of_untrained,
    share_of_zeros,
    token_statistics,
    walk,
)
from models.lessons.known_words import check_length
from pages.lab import any_model
from pages.lab.any_model import ANOTHER
from pages.lab.block import any_flow, flow_board, switches
from pages.lab.block.inputs import MAX_WORDS, Inputs
from pages.lab.block.switches import SWITCHES, TRAINED
from pages.lab.controls import When
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from pages.shared import cache
from viz_core.boards import Board, Fact, Facts, Scrub

D_MODEL, N_HEADS = 32, 4
SEE = (
    "A sentence's vectors go through one layer. **Press a box, or drag the slider.** Below is the tensor at "
    "that point, one row for each token, with the mean, deviation and length of every row; beside it is the "
    "feed-forward's hidden layer. $\\lVert x\\rVert$ in a box is the mean length of the vectors."
)
ENTERING = {
    "random": "embedding plus position", "layer0": "embedding plus position", "layer1": "what layer 0 leaves",
}  # fmt: skip
RANDOM = {"subject": "random", **switches.USUAL}
TRIES = (
    Try("the paper's post-norm", {**RANDOM, "norm": "post", "point": 3}),
    Try("no residual", {**RANDOM, "residual": False, "point": 4}),
    Try("a trained layer", {"subject": "layer1", "point": 6}),
)


def lesson(inputs: Inputs) -> Lesson:
    if inputs.subject == ANOTHER:
        return any_flow.lesson(inputs)
    block, config = _block(inputs)
    walked = flow.walk(block.layer, block.x)
    n, d_model = block.x.shape
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [flow_board.diagram(walked, flow_board.rows_of(walked, config))],
                [
                    flow_board.tensor(block.tokens, walked),
                    *flow_board.hidden(block.tokens, walked, f"after {config.activation}"),
                ],
                [flow_board.statistics(block.tokens, walked), _facts(walked, config)],
            ],
            notice=flow_board.notices(walked, config, ENTERING[inputs.subject]),
            scrub=Scrub(
                field="point", label="point", speed=1.2, values=np.arange(len(walked.points)),
                words=flow_board.names(walked),
            ),
        ),
        formula=_formula(config),
        sizes=rf"n={n},\; d_{{model}}={d_model}"
        + (rf",\; d_{{ff}}={config.ff_size}" if config.feed_forward else ""),
        shapes=(
            Shape("x", "token, d_model (at every point of the stream)", (n, d_model)),
            Shape(r"\mathrm{attention}(x)", "token, d_model", (n, d_model)),
            Shape(r"\mu,\;\sigma", "token", (n,)),
            *(
                (
                    Shape("W_1", "d_model, d_ff", (d_model, config.ff_size)),
                    Shape("h", "token, d_ff", (n, config.ff_size)),
                    Shape("W_2", "d_ff, d_model", (config.ff_size, d_model)),
                )
                if config.feed_forward
                else ()
            ),
        ),
        code=(flow.walk, flow.sublayer, Layer.forward, Layer._before, Layer._after, FeedForward.forward),
    )  # fmt: skip


def _block(inputs: Inputs) -> tuple[Block, ModelConfig]:
    """The layer that the inputs choose, with the sentence before it; ValueError where it cannot be read."""
    check_length(len(inputs.text.split()), MAX_WORDS)
    if inputs.subject != "random":
        translator = cache.translator()
        return of_translator(translator, inputs.text, int(inputs.subject[-1])), translator.config
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=N_HEADS, d_model=D_MODEL, d_ff=D_MODEL * inputs.ff or None,
        vocab_size=MAX_WORDS + 1, max_len=MAX_WORDS + UntrainedModel.PADDING, residual=inputs.residual,
        norm=cast(Any, inputs.norm), feed_forward=inputs.ff > 0, activation=cast(Any, inputs.activation),
    )  # fmt: skip
    return of_untrained(UntrainedModel(config, seed=inputs.seed), inputs.text), config


def _facts(walked: Walk, config: ModelConfig) -> Facts:
    lengths = np.array([mean_length(point.x) for point in walked.points])
    facts = [Fact(label="mean length here", values=lengths)]
    if walked.hidden is not None:
        zeros = share_of_zeros(walked.hidden)
        facts.append(
            Fact(label=f"of the hidden layer's {config.ff_size} units, exactly 0", values=f"{zeros:.0%}")
        )
    return Facts(facts=facts)


def _formula(config: ModelConfig) -> str:
    """x' = x + f(norm(x)), norm(x + f(x)), or what the switches leave of it."""
    lines = []
    for name, f in (("x'", r"\mathrm{attention}"), ("x''", r"\mathrm{FFN}"))[: 1 + config.feed_forward]:
        x = name[:-1]
        plus = f"{x}+" if config.residual else ""
        right = {
            "pre": rf"{plus}{f}(\mathrm{{LN}}({x}))",
            "post": rf"\mathrm{{LN}}({plus}{f}({x}))",
            "none": rf"{plus}{f}({x})",
        }[config.norm]
        lines.append(f"{name}={right}")
    below = [r"\mathrm{LN}(x)=\gamma\,\frac{x-\mu}{\sqrt{\sigma^2+\epsilon}}+\beta"] * (config.norm != "none")
    if config.feed_forward:
        below.append(rf"\mathrm{{FFN}}(x)=h\,W_2+b_2,\; h=\mathrm{{{config.activation}}}(x\,W_1+b_1)")
    return r"\begin{gathered}" + r"\\".join([*lines, *below]) + r"\end{gathered}"


def questions() -> tuple[Question, ...]:
    pre, post, bare = (
        walk((made := _block(Inputs(**fields))[0]).layer, made.x)
        for fields in ({}, {"norm": "post"}, {"norm": "post", "residual": False})
    )
    zeros = share_of_zeros(cast(Any, pre.hidden))
    start, end = mean_length(pre.points[0].x), mean_length(pre.points[-1].x)
    after = token_statistics(post.points[-1].x)
    return (
        Question(
            "With random weights and relu, how much of the feed-forward's hidden layer is exactly 0?",
            ("none", "about a tenth", "about half"),
            0 if zeros == 0 else 1 if zeros < 0.2 else 2,
            f"{zeros:.0%}: sums of random products are as often below 0 as above, and relu cuts off what is "
            "below. gelu leaves next to nothing at exactly 0.",
        ),
        Question(
            "With pre-norm and random weights, a layer makes the vectors of the residual stream …",
            ("longer", "shorter", "exactly as long as before"),
            0 if end > start * 1.05 else 1 if end < start * 0.95 else 2,
            f"The mean length goes from {start:.1f} to {end:.1f}: with pre-norm the norms are on the "
            "branches, and the stream itself only ever gets something added.",
        ),
        Question(
            "With post-norm, d_model = 32 and an untrained norm, how long are the vectors that leave?",
            ("1", "√32 = 5.7", "as long as they came"),
            [1, 32**0.5].index(min((1, 32**0.5), key=lambda size: abs(size - after[:, 2].mean().item()))),
            f"{after[:, 2].mean():.2f}: mean 0 and deviation 1 over 32 channels make √(32 · 1²), for every "
            f"token, whatever came in. Without residual it is {mean_length(bare.points[-1].x):.2f} as well.",
        ),
    )


PART = Part(
    "flow", "Through the block",
    (
        "subject",
        When(
            "subject", ANOTHER, any_model.LAYER,
            ("text", When("subject", "random", SWITCHES, (TRAINED,))),
        ),
    ),
    lesson, TRIES, questions, scrub="point",
)  # fmt: skip
