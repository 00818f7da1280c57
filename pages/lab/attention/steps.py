"""Eight forms of attention, from the simplest to the Transformer's, each in a few lines.

Vectors are rows: a token's embedding is a row of `X`, and a matrix projects it from the right, `X @ W_K`.
Each function returns its intermediate tensors by name, in the order in which they are computed; `scores` is
always what softmax gets, `pattern` what it gives, `z` the weighted sum.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from attention_lab.models.config import ModelConfig
from attention_lab.models.engine.attention import MultiHeadAttention
from attention_lab.pages.lab.attention.inputs import (
    CHANNELS,
    STEP_NAMES,
    STEP_TEXTS,
    TOKENS,
    Inputs,
    embeddings,
    given_tensors,
    matrices,
    names,
)
from attention_lab.pages.lab.lesson import Answer, Lesson, Shape, When, part
from attention_lab.pages.shared.phrases import distinct
from attention_lab.viz_core.boards import Diagram, Matrix, Node, Panel, Role

Tensors = dict[str, Tensor]
Tokens = Float[Tensor, "token channel"]
Query = Float[Tensor, "channel"]
Queries = Float[Tensor, "query channel"]
Square = Float[Tensor, "channel channel"]


def parameter_free(X: Tokens) -> Tensors:
    """Each token looks at all tokens by similarity, with nothing to learn (Bloem 2019, Transformers from
    scratch, "Self-attention").
    """
    scores = X @ X.mT  # [query, key]
    pattern = scores.softmax(dim=-1)  # [query, key]
    z = pattern @ X  # [query, channel]
    return {"scores": scores, "pattern": pattern, "z": z}


def additive(
    q: Query,
    X: Tokens,
    W_a: Float[Tensor, "hidden channel"],
    U_a: Float[Tensor, "hidden channel"],
    v_a: Float[Tensor, "hidden"],
) -> Tensors:
    """A small network scores one query against each token (Bahdanau et al. 2015, section 3.1, A.1.2)."""
    hidden = (W_a @ q + X @ U_a.mT).tanh()  # [key, hidden]
    scores = hidden @ v_a  # [key]
    pattern = scores.softmax(dim=-1)  # [key]
    z = pattern @ X  # [channel]
    return {"hidden": hidden, "scores": scores, "pattern": pattern, "z": z}


def dot_product(q: Query, X: Tokens) -> Tensors:
    """A dot product scores one query against each token (Luong et al. 2015, section 3.1, "dot")."""
    scores = X @ q  # [key]
    pattern = scores.softmax(dim=-1)  # [key]
    z = pattern @ X  # [channel]
    return {"scores": scores, "pattern": pattern, "z": z}


def scaled_dot_product(q: Query, X: Tokens) -> Tensors:
    """The dot product divided by sqrt(d_k), d_k the number of channels (Vaswani et al. 2017, 3.2.1)."""
    dots = X @ q  # [key]
    scores = dots / len(q) ** 0.5  # [key]
    pattern = scores.softmax(dim=-1)  # [key]
    z = pattern @ X  # [channel]
    return {"dots": dots, "scores": scores, "pattern": pattern, "z": z}


def many_queries(Q: Queries, X: Tokens) -> Tensors:
    """All queries in one matrix product (Vaswani et al. 2017, equation 1, with K = V = X)."""
    dots = Q @ X.mT  # [query, key]
    scores = dots / Q.shape[1] ** 0.5  # [query, key]
    pattern = scores.softmax(dim=-1)  # [query, key]
    z = pattern @ X  # [query, channel]
    return {"dots": dots, "scores": scores, "pattern": pattern, "z": z}


def cross_attention(Q: Queries, X: Tokens, W_K: Square, W_V: Square) -> Tensors:
    """Keys to be found by and values to be taken away, both projected from the source tokens
    (Vaswani et al. 2017, 3.2.3, without the projection of the queries).
    """
    K = X @ W_K  # [key, channel]
    V = X @ W_V  # [key, channel]
    dots = Q @ K.mT  # [query, key]
    scores = dots / Q.shape[1] ** 0.5  # [query, key]
    pattern = scores.softmax(dim=-1)  # [query, key]
    z = pattern @ V  # [query, channel]
    return {"K": K, "V": V, "dots": dots, "scores": scores, "pattern": pattern, "z": z}


def self_attention(X: Tokens, W_Q: Square, W_K: Square, W_V: Square) -> Tensors:
    """The tokens ask each other: queries too are projected from them (Vaswani et al. 2017, 3.2.3)."""
    Q = X @ W_Q  # [query, channel]
    K = X @ W_K  # [key, channel]
    V = X @ W_V  # [key, channel]
    dots = Q @ K.mT  # [query, key]
    scores = dots / Q.shape[1] ** 0.5  # [query, key]
    pattern = scores.softmax(dim=-1)  # [query, key]
    z = pattern @ V  # [query, channel]
    return {"Q": Q, "K": K, "V": V, "dots": dots, "scores": scores, "pattern": pattern, "z": z}


def multi_head(X: Tokens, W_Q: Square, W_K: Square, W_V: Square, W_O: Square, n_heads: int) -> Tensors:
    """Several attentions beside each other, each on its own channels (Vaswani et al. 2017, 3.2.2)."""
    Q = X @ W_Q  # [query, channel]
    K = X @ W_K  # [key, channel]
    V = X @ W_V  # [key, channel]
    Q_heads, K_heads, V_heads = split(Q, n_heads), split(K, n_heads), split(V, n_heads)
    dots = Q_heads @ K_heads.mT  # [head, query, key]
    scores = dots / Q_heads.shape[-1] ** 0.5  # [head, query, key]
    pattern = scores.softmax(dim=-1)  # [head, query, key]
    z = pattern @ V_heads  # [head, query, d_head]
    concat = z.transpose(0, 1).flatten(1)  # [query, head * d_head]
    out = concat @ W_O  # [query, channel]
    projected = {"Q": Q, "K": K, "V": V, "Q_heads": Q_heads, "K_heads": K_heads, "V_heads": V_heads}
    return projected | {
        "dots": dots, "scores": scores, "pattern": pattern, "z": z, "concat": concat, "out": out,
    }  # fmt: skip


def split(x: Tokens, n_heads: int) -> Float[Tensor, "head token d_head"]:
    """Cuts the channels into `n_heads` equal parts, one for each head."""
    return x.unflatten(1, (n_heads, -1)).transpose(0, 1)  # [token, head, d_head] -> [head, token, d_head]


def n_parameters(d_model: int, n_heads: int) -> int:
    """Numbers to learn in the engine's multi-head attention without biases: W_Q, W_K, W_V and W_O.

    Raises ValueError when `n_heads` does not divide `d_model`.
    """
    config = ModelConfig(
        kind="encoder-only", n_layers=1, n_heads=n_heads, d_model=d_model, vocab_size=1, max_len=1, bias=False
    )
    with torch.random.fork_rng(devices=[]):
        return sum(p.numel() for p in MultiHeadAttention(config).parameters())


def same_embedding_everywhere(n_tokens: int, seed: int) -> Float[Tensor, "query key"]:
    """The self-attention pattern of tokens that are all alike, under random projections."""
    X = torch.ones(n_tokens, len(CHANNELS), dtype=torch.float64)
    W = matrices(seed)
    return self_attention(X, W["W_Q"], W["W_K"], W["W_V"])["pattern"]


def longer_token(
    X: Float[Tensor, "token channel"], token: int, factor: int | float
) -> Float[Tensor, "query key"]:
    """The parameter-free pattern when one token's embedding is `factor` times as long."""
    longer = X.clone()
    longer[token] *= factor
    return parameter_free(longer)["pattern"]


AXES = {
    "X": "token channel",
    "q": "channel",
    "Q": "query channel",
    "W_a": "hidden channel",
    "U_a": "hidden channel",
    "v_a": "hidden",
    "W_Q": "channel channel",
    "W_K": "channel channel",
    "W_V": "channel channel",
    "W_O": "channel channel",
}
"""The axes of the tensors that steps are given; their lines say the axes of what they compute."""


class Line(NamedTuple):
    """One line of a step: which tensor, its axes, what is done, and to which tensors."""

    name: str
    axes: str
    does: str
    reads: tuple[str, ...]


class Box(NamedTuple):
    """A tensor in a step's diagram; `does` says how it is computed, or is None where the step is given it."""

    name: str
    does: str | None
    changed: bool


@dataclass(frozen=True)
class Step:
    """One form of attention; `change` says what is new in it, and why."""

    key: str
    source: str
    change: str
    formula: str
    run: Callable[..., Tensors]
    lines: tuple[Line, ...]

    @cached_property
    def takes(self) -> tuple[str, ...]:
        """The tensors it is given."""
        return tuple(name for name in inspect.signature(self.run).parameters if name != "n_heads")

    @cached_property
    def axes(self) -> dict[str, str]:
        """The axes of every tensor, given or computed."""
        return {name: AXES[name] for name in self.takes} | {line.name: line.axes for line in self.lines}


_RUN: dict[str, Callable[..., Tensors]] = {
    "free": parameter_free, "v0": additive, "v1": dot_product, "v2": scaled_dot_product, "v3": many_queries,
    "v4": cross_attention, "v5": self_attention, "v6": multi_head,
}  # fmt: skip
STEPS = tuple(
    Step(
        key, texts["source"], " ".join(texts["change"].split()), texts["formula"], _RUN[key],
        tuple(Line(name, axes, does, tuple(reads)) for name, axes, does, reads in texts["lines"]),
    )
    for key, texts in STEP_TEXTS.items()
)  # fmt: skip
"""The steps in their order; what is said of them is in steps.toml."""


def compute(step: Step, tensors: dict[str, Tensor], *, n_heads: int) -> dict[str, Tensor]:
    """All tensors of a step by name, those it is given first; `n_heads` matters to multi-head only."""
    arguments = {name: tensors[name] for name in step.takes}
    more = {"n_heads": n_heads} if step.run is multi_head else {}
    return arguments | step.run(**arguments, **more)


def boxes(index: int) -> tuple[list[Box], list[tuple[str, str]]]:
    """The tensors of a step, and (read, computed) pairs. What the step before lacks is `changed`; in the
    first step nothing is.
    """
    step = STEPS[index]
    before = STEPS[max(index - 1, 0)]
    earlier = {line.does for line in before.lines}
    nodes = [Box(name, None, name not in before.takes) for name in step.takes]
    nodes += [Box(line.name, line.does, line.does not in earlier) for line in step.lines]
    return nodes, [(read, line.name) for line in step.lines for read in line.reads]


Named = Mapping[str, Tensor]


def _best(weights: Tensor, words: Sequence[str]) -> str:
    """Where a row of weights is largest: “animal” (0.56)."""
    at = int(weights.argmax())
    return f"“{words[at]}” (**{weights[at]:.2f}**)"


def notice(key: str, tensors: Named, before: Named, words: Sequence[str], asking: Sequence[str]) -> str:
    """One sentence about a step's tensors; `before` are those of the step before."""
    pattern, then = tensors["pattern"], before["pattern"]
    it = list(words).index("it") if "it" in words else len(words) - 1  # the row that the sentences follow
    first = asking[0]
    match key:
        case "free":
            own = int((pattern.argmax(dim=-1) == torch.arange(len(words))).sum())
            return (
                f"**{own} of {len(words)}** words look most at themselves; “{words[it]}” gives itself "
                f"**{pattern[it, it]:.2f}** of its weight."
            )
        case "v0":
            return f"“{first}” asks, and the network gives most weight to {_best(pattern, words)}."
        case "v1":
            return (
                f"“{first}” looks most at {_best(pattern, words)}; the network looked most at "
                f"{_best(then, words)}."
            )
        case "v2":
            d_k = tensors["X"].shape[1]
            return (
                f"Dividing by √{d_k} = {d_k**0.5:g} evens the weights out: the largest goes from "
                f"{then.max():.2f} to **{pattern.max():.2f}**."
            )
        case "v3":
            rows = zip(asking, pattern, strict=True)
            best = ", ".join(f"“{name}” at {_best(row, words)}" for name, row in rows)
            return f"Each row is one query and sums to 1: {best}."
        case "v4":
            return (
                f"“{words[it]}” now has a key and a value: the weight from “{first}” goes from "
                f"{then[0, it]:.2f} to **{pattern[0, it]:.2f}**."
            )
        case "v5":
            return (
                f"It looks most at {_best(pattern[it], words)}, and gives itself **{pattern[it, it]:.2f}**."
            )
        case _:
            heads = [f"head {h} at {_best(row, words)}" for h, row in enumerate(pattern[:, it])]
            return f"“{words[it]}” looks with each head separately: {', '.join(heads)}."


# Where a tensor stands in the diagram: (stage, row). Stages without any tensor take no room.
_PLACES = {
    "X": (0, 1), "q": (0, 0), "Q": (1, 0), "K": (1, 1), "V": (1, 2), "hidden": (2, 0.5),
    "Q_heads": (2, 0), "K_heads": (2, 1), "V_heads": (2, 2), "dots": (3, 0.5), "scores": (4, 0.5),
    "pattern": (5, 0.5), "z": (6, 1), "concat": (7, 1), "out": (8, 1),
}  # fmt: skip
_ROLES: dict[str, Role] = {"q": "query", "Q": "query", "K": "key", "V": "value"}
_PROJECTED = ("Q", "K", "V")
_CUT = (*_PROJECTED, "concat")
_MULTIPLIED = ("W_Q", "W_K", "W_V", "W_O")  # their rows are the columns of what stands at their left
_MOST_IN_A_ROW = 4


class StepBoard:
    """Panels of one step; `tensors` are those of `evolution.compute`, by name."""

    def __init__(
        self, index: int, tensors: Mapping[str, Tensor], words: Sequence[str], asking: Sequence[str]
    ) -> None:
        self.step = STEPS[index]
        self.nodes, self.edges = boxes(index)
        self.new = {node.name for node in self.nodes if node.changed}
        self.tensors = tensors
        self.column_heads: list[int] = []  # the head of each channel, where channels are cut
        if "Q_heads" in tensors:
            n_heads, _, d_head = tensors["Q_heads"].shape
            self.column_heads = [head for head in range(n_heads) for _ in range(d_head)]
        asks = asking if {"q", "Q"} & set(self.step.takes) else words
        self.labels = {"token": words, "key": words, "query": asks, "channel": CHANNELS}

    def rows(self) -> list[list[Panel]]:
        """The diagram, what is given, projections, and the rest in the order of computation."""
        sources: list[Panel] = [self._given(name) for name in self.step.takes]
        projected = self._computed(*(line.name for line in self.step.lines if line.name in _PROJECTED))
        diagram: list[Panel] = [self._diagram()]
        if "Q_heads" in self.tensors:
            rows = [[self._given("X"), *projected], *self._heads()]
        else:
            rest = self._computed(*(line.name for line in self.step.lines if line.name not in _PROJECTED))
            is_short = len(sources + rest) <= _MOST_IN_A_ROW
            rows = [sources + rest] if is_short else [sources, projected, rest]
        return [_sparing(row) for row in (diagram, *rows) if row]

    def _diagram(self) -> Diagram:
        boxes_here = [node for node in self.nodes if node.name in _PLACES]
        stages = sorted({_PLACES[node.name][0] for node in boxes_here})
        nodes = [
            Node(
                id=node.name, label=self._name(node.name), note=node.does or "",
                column=stages.index(_PLACES[node.name][0]), row=_PLACES[node.name][1],
                colour=_ROLES.get(node.name[0]), changed=node.changed,
            )
            for node in boxes_here
        ]  # fmt: skip
        names = {node.name for node in boxes_here}
        return Diagram(nodes=nodes, edges=[edge for edge in self.edges if set(edge) <= names])

    def _given(self, name: str) -> Matrix:
        if name != "q":
            return self._matrix(name, edit=name if name in ("X", "Q") else None)
        asks = np.zeros(self.tensors["Q"].shape, bool)
        asks[0] = True
        title = f"q: “{self.labels['query'][0]}” asks" + self._mark("q")
        return self._matrix("Q", title=title, edit="Q", marked=asks)

    def _computed(self, *names: str) -> list[Panel]:
        return [self._matrix(name) for name in names]

    def _heads(self) -> list[list[Panel]]:
        """Patterns of all heads; what they bring, joined and mixed by W_O.

        While there is room, also their scores, and what each brings: concat shows that side by side.
        """
        heads = range(len(self.tensors["pattern"]))
        has_room = 2 * len(heads) <= _MOST_IN_A_ROW
        names = ("scores", "pattern") if has_room else ("pattern",)
        by_head: list[Panel] = [self._of_head(name, head) for name in names for head in heads]
        brought: list[Panel] = [self._of_head("z", head) for head in heads] if has_room else []
        return [by_head, brought + self._computed("concat", "W_O", "out")]

    def _of_head(self, name: str, head: int) -> Matrix:
        return self._matrix(name, title=f"{self._name(name)}, head {head}", values=self.tensors[name][head])

    def _matrix(
        self, name: str, *, title: str | None = None, values: Tensor | None = None, **options: Any
    ) -> Matrix:
        values = self.tensors[name] if values is None else values
        axes = AXES.get(name) or self.step.axes[name]
        # A vector is drawn as one row: that of the query that asks.
        row_axis, column_axis = ["query", *axes.split()][-2:]
        values = values[None] if values.ndim == 1 else values
        rows, columns = (self.labels.get(axis, ()) for axis in (row_axis, column_axis))
        if name == "v_a":  # it belongs to no query
            rows, row_axis = (), ""
        elif name in _MULTIPLIED:
            rows = ()
        return Matrix(
            values=values.numpy(),
            title=title or self._title(name),
            role=_ROLES.get(name),
            rows=rows[: len(values)],
            columns=columns,
            row_axis=row_axis if rows or name in _MULTIPLIED else "",
            column_axis=column_axis if columns else "",
            scale="weights" if name == "pattern" else "signed",
            digits=1 if name in AXES and name not in _PROJECTED else 2,
            column_heads=self.column_heads if name in _CUT else (),
            **options,
        )

    def _title(self, name: str) -> str:
        does = next((line.does for line in self.step.lines if line.name == name), None)
        title = self._name(name) if does is None else f"{self._name(name)}: {does}"
        return title + self._mark(name)

    def _mark(self, name: str) -> str:
        return " · new" if name in self.new else ""

    def _name(self, name: str) -> str:
        if name == "z" and len(self.step.axes["z"].split()) > 1:
            return "Z"
        return name.replace("_heads", " heads")


def _sparing(row: Sequence[Panel]) -> list[Panel]:
    """The same row where names beside a matrix also serve those at its right that have the same."""
    panels: list[Panel] = []
    beside: Sequence[str] = ()
    for panel in row:
        if isinstance(panel, Matrix) and panel.rows:
            same, beside = list(panel.rows) == list(beside), panel.rows
            panel = replace(panel, rows=()) if same and panel.scale != "weights" else panel
        panels.append(panel)
    return panels


def lesson(inputs: Inputs) -> Lesson:
    words, asking = (
        distinct(names(text, what))
        for text, what in ((inputs.tokens, "words"), (inputs.queries, "words that ask"))
    )
    seed = inputs.seed if inputs.matrices == "random" else None
    tensors = given_tensors(embeddings(words, inputs.X), embeddings(asking, inputs.Q), seed)
    index = list(STEP_NAMES).index(inputs.step)
    step = STEPS[index]
    before, now = (compute(STEPS[at], tensors, n_heads=inputs.n_heads) for at in (max(index - 1, 0), index))
    sizes = rf"n = {len(words)} \text{{ tokens}},\; "
    if "Q_heads" in now:
        sizes += rf"H = {inputs.n_heads},\; d_\text{{head}} = {now['Q_heads'].shape[-1]}"
    else:
        sizes += f"d_k = {len(CHANNELS)}"
        sizes += rf",\; {len(now['Q'])} \text{{ queries}}" if "Q" in now else ""
    return Lesson(
        variant=step.key,
        see=f"**{STEP_NAMES[step.key]}** ({step.source}). {step.change}",
        rows=StepBoard(index, tensors | now, words, asking).rows(),
        notice=notice(step.key, now, before, words, asking),
        formula=step.formula,
        sizes=sizes,
        shapes=[Shape(_latex(name), step.axes[name], tuple(tensor.shape)) for name, tensor in now.items()],
        code=[step.run, split] if step.run is multi_head else [step.run],
    )


def _latex(name: str) -> str:
    letter, _, index = name.partition("_")
    if index:
        return rf"{letter}_{{\text{{{index}}}}}"
    return name if len(name) == 1 else rf"\text{{{name}}}"


def questions() -> tuple[Answer, ...]:
    one, four = n_parameters(4, 1), n_parameters(4, 4)
    offered = (one // 4, one, 4 * one)
    same = torch.stack([same_embedding_everywhere(4, seed) for seed in range(5)])  # [seed, query, key]
    even = (same - 1 / 4).abs().max().item() < 1e-12
    depends = (same - same[0]).abs().max().item() > 1e-12
    X = embeddings(list(TOKENS), list(TOKENS.values()))
    animal, it = list(TOKENS).index("animal"), list(TOKENS).index("it")
    before, after = (longer_token(X, animal, factor)[it, animal].item() for factor in (1, 2))
    return (
        Answer.of(offered.index(four), options=tuple(map(str, offered)), one=one, four=four),
        Answer.of(1 if even else 2 if depends else 0, weight=same[0, 0, 0]),
        Answer.of(0 if after > before else 1, before=before, after=after),
    )


CONTROLS = ("step", "tokens", "queries", "matrices", "seed", When("step", "v6", ("n_heads",)))
PART = part(__name__, CONTROLS, lesson, questions, also=("X", "Q"), walks="step")
