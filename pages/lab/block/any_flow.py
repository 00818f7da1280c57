"""Part 1 on any model: the points of a layer that its trace knows, and what it does not know, said."""

import numpy as np

from models.lessons.block import any_layer
from models.lessons.block.any_layer import WRITES
from models.lessons.block.flow import Walk, mean_length, share_of_zeros
from pages.lab import any_model
from pages.lab.block import flow_board
from pages.lab.block.flow_board import BRANCH, STREAM
from pages.lab.block.inputs import Inputs
from pages.lab.lesson import Lesson, Shape
from pages.shared import on_offer
from pages.shared.wording import plain
from viz_core.boards import Board, Fact, Facts, Scrub
from viz_core.labels import short

MOST_TOKENS = 24
MOST_READ = 128
"""With what the other side of an encoder-decoder reads, which is not drawn."""
SEE = (
    "A text's vectors go through layer {layer} of **{title}**'s {side}. **Press a box, or drag the slider.** "
    "Below is the tensor at that point, one row for each token. **Its norms{sums} are not drawn**: a trace "
    "of this model does not hold them{hidden}."
)


def lesson(inputs: Inputs) -> Lesson:
    read = any_model.read(inputs, most=MOST_READ)
    if len(read.queries) > MOST_TOKENS:
        raise ValueError(
            f"The {read.side} of {on_offer.title(inputs.other)} has {len(read.queries)} tokens; "
            f"{MOST_TOKENS} have room here; shorten the text."
        )
    at, tokens = f"{read.side}.{inputs.other_layer}", read.queries
    walked = any_layer.of_model(read.model, read.reading, at)
    n, d_model = walked.points[0].x.shape
    rows = [BRANCH if point.kind in WRITES else STREAM for point in walked.points]
    return Lesson(
        see=_see(inputs, read.side, walked),
        board=Board(
            rows=[
                [flow_board.diagram(walked, rows)],
                [
                    flow_board.tensor(tokens, walked),
                    *flow_board.hidden(tokens, walked, "before its last matrix"),
                ],
                [flow_board.statistics(tokens, walked), _facts(walked)],
            ],
            notice=[_notice(walked, place, inputs.other_layer) for place in range(len(walked.points))],
            scrub=Scrub(
                field="point", label="point", speed=1.2, values=np.arange(len(walked.points)),
                words=flow_board.names(walked),
            ),
        ),
        formula=r"x_{\text{leaves}}\stackrel{?}{=}x_{\text{enters}}+\sum(\text{all that the layer writes})",
        sizes=rf"n={n},\; d_{{model}}={d_model}",
        shapes=(
            Shape("x", "token, d_model (at every point)", (n, d_model)),
            *(
                (Shape("h", "token, d_ff", tuple(walked.hidden.shape)),)
                if walked.hidden is not None
                else ()
            ),
        ),
        code=(any_layer.of_model, any_layer.summed, any_layer.is_sum),
    )  # fmt: skip


def _see(inputs: Inputs, side: str, walked: Walk) -> str:
    kinds = [point.kind for point in walked.points]
    return SEE.format(
        layer=inputs.other_layer,
        title=plain(on_offer.title(inputs.other)),
        side=side,
        sums="" if "add" in kinds else " and the sums between",
        hidden="" if walked.hidden is not None else ", nor its feed-forward's hidden layer",
    )


def _facts(walked: Walk) -> Facts:
    lengths = np.array([mean_length(point.x) for point in walked.points])
    gap = (any_layer.summed(walked) - walked.points[-1].x).abs().max().item()
    facts = [
        Fact(label="mean length here", values=lengths),
        Fact(label="x enters + all that is written, against x leaves: largest difference", values=short(gap)),
    ]
    if walked.hidden is not None:
        label = f"of the hidden layer's {walked.hidden.shape[-1]:,} units, exactly 0"
        facts.append(Fact(label=label, values=f"{share_of_zeros(walked.hidden):.0%}"))
    return Facts(facts=facts)


def _notice(walked: Walk, at: int, layer: int) -> str:
    point, length = walked.points[at], mean_length(walked.points[at].x)
    if point.kind == "stream":
        entering = f"what layer {layer - 1} leaves" if layer else "the embedding"
        return flow_board.entering_notice(point.x, entering)
    if point.kind == "leaves":
        return _leaving(walked, length)
    if point.kind == "add":
        return f"The sum of the stream and what was written last is **{length:.1f}** long."
    beside = f"**{length:.1f}** long, onto a stream that came in {mean_length(walked.points[0].x):.1f} long"
    if point.kind == "feed-forward":
        return f"The feed-forward treats each token alone. It writes vectors {beside}."
    where = "looks into the encoder's memory" if point.kind == "cross" else "lets tokens exchange something"
    return f"Attention {where}. It writes vectors {beside}."


def _leaving(walked: Walk, length: float) -> str:
    if any_layer.is_sum(walked):
        return (
            f"What leaves is **{length:.1f}** long: what entered and all that was written, added up. So the "
            "stream itself passes no norm here."
        )
    return (
        f"What leaves is **{length:.1f}** long, and not the plain sum of what entered and was written, which "
        f"is **{mean_length(any_layer.summed(walked)):.1f}** long: a norm or a factor stands on the stream, "
        "or after a branch."
    )
