"""A trace as the browser gets it: thumbnails of every head, full numbers of the heads that are open.

A screen has no more pixels than it has, so what is sent does not grow with the text: thumbnails share a byte
budget; numbers come as a window of at most 128 x 128 cells. Where the numbers of all heads fit their budget
(any sentence of usual length) all are sent, and the browser needs the server no more.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from attention_lab.models.data.tasks import Advice
from attention_lab.models.engine.address import Address
from attention_lab.pages.explore import head_measures
from attention_lab.pages.explore.effect import EditedPass
from attention_lab.pages.explore.head_measures import Measured
from attention_lab.pages.explore.state import Inputs
from attention_lab.pages.explore.subject import Stack, Subject, subject_of, token_text
from attention_lab.viz_core.boards import Matrix
from attention_lab.viz_core.grids import thumbnails
from attention_lab.viz_core.measures import rollout
from attention_lab.viz_core.viewer.message import Packed, pack
from attention_lab.viz_core.viewer.program import OFFERED

# Special tokens, such as [CLS], left out of what is shown of a pattern, with or without renormalising.
# Hidden queries and keys get the weight 0; what was there is told beside, so that nothing is lost in
# silence.

SHOWN, HIDDEN, RENORMALISED = OFFERED["special"]["options"]
FOR_WORDS = ("[MASK]", "<mask>", "[UNK]", "<unk>")
"""Special tokens that stand for a word of the text: they are not hidden."""

Patterns = Float[np.ndarray, "head query key"]
Rows = Float[np.ndarray, "head query"]


def special_positions(subject: Subject) -> dict[str, list[int]]:
    """Where the special tokens of each side stand; none where a side has no others."""
    places: dict[str, list[int]] = {}
    for side, tokens in subject.tokens.items():
        marked = (at for at, token in enumerate(tokens) if token.get("mark") == "special")
        special = [at for at in marked if tokens[at]["text"] not in FOR_WORDS]
        places[side] = special if len(special) < len(tokens) else []
    return places


@dataclass(frozen=True)
class Hiding:
    """Which queries and keys of a stack may be hidden."""

    queries: tuple[int, ...]
    keys: tuple[int, ...]

    @property
    def any(self) -> bool:
        return bool(self.queries or self.keys)

    def on_hidden(self, pattern: Patterns) -> Rows:
        """The weight of each row that lies on hidden keys."""
        return pattern[..., list(self.keys)].sum(-1, dtype=np.float64)

    def rest(self, pattern: Patterns) -> Rows:
        """The weight of each row that lies on all other keys."""
        return np.delete(pattern, list(self.keys), axis=-1).sum(-1, dtype=np.float64)

    def mean_hidden(self, pattern: Patterns) -> Float[np.ndarray, "head"]:
        """The weight on hidden keys of a head's rows that are shown, on average."""
        return np.delete(self.on_hidden(pattern), list(self.queries), axis=-1).mean(-1)

    def apply(self, pattern: Patterns, how: str) -> Patterns:
        """The pattern as it is shown; a row of which nothing is left stays 0."""
        if how == SHOWN or not self.any:
            return pattern
        visible = pattern.copy()
        visible[..., list(self.queries), :] = 0
        visible[..., list(self.keys)] = 0
        if how == RENORMALISED:
            rest = self.rest(pattern)[..., None]
            visible = (visible / np.where(rest > 0, rest, 1)).astype(pattern.dtype)
        return visible


def hiding_code(hiding: Hiding, how: str) -> list[str]:
    """The lines of Python that leave special tokens out of `pattern` [query, key], a tensor."""
    if how == SHOWN or not hiding.any:
        return []
    lines = [
        f"queries = [at for at in range(len(pattern)) if at not in {hiding.queries}]  # no special tokens",
        f"keys = [at for at in range(pattern.shape[1]) if at not in {hiding.keys}]",
        "pattern = pattern[queries][:, keys]",
    ]
    if how == RENORMALISED:
        lines += [
            "left = pattern.sum(-1, keepdim=True)",
            "pattern = pattern / left.where(left > 0, 1)  # a row of which nothing is left stays 0",
        ]
    return lines


def hiding_of(subject: Subject, stack: Stack) -> Hiding:
    """Which queries and keys of a stack are special tokens."""
    special = special_positions(subject)
    return Hiding(tuple(special[stack.query_side]), tuple(special[stack.key_side]))


# What the view over a picture is drawn from: whole rows of weights, whatever the length of the sequence.

PICTURE_BYTES = 2_000_000
"""What the heads of a layer, or the means of all layers, may take."""
PICTURE_STACK = "encoder.self"


class PictureWeights:
    """The patterns of heads, the mean of a layer's heads, and attention rolled out, as a trace is made.

    heads: those that are open, by layer; all of such a layer are kept, and the means of all `n_layers`, where
    they have room, so that the browser need not ask for them. Weights are sent in half precision: 0.05 % of
    each.
    """

    def __init__(self, heads: Mapping[int, list[int]], n_layers: int) -> None:
        self._heads = heads
        self._n_layers = n_layers
        self._means: list[np.ndarray] = []
        self._numbers: list[int] = []
        self._layers: list[dict[str, Any]] = []

    def beside(self, reduce: Callable[[str, Any], Any]) -> Callable[[str, Any], Any]:
        """The same `reduce` of a trace, which shows this one each pattern."""

        def both(address: str, tensor: Any) -> Any:
            where = Address.parse(address)
            if where.family == PICTURE_STACK and where.name == "pattern":
                self._take(where.layer, tensor.numpy())
            return reduce(address, tensor)

        return both

    def _take(self, layer: int, pattern: np.ndarray) -> None:
        mean = pattern.mean(axis=0, dtype=np.float32)
        self._means.append(mean)
        self._numbers.append(layer)
        heads = self._heads.get(layer, [])
        if heads and 2 * pattern.size <= PICTURE_BYTES:
            heads = list(range(len(pattern)))
        if heads or 2 * mean.size * self._n_layers <= PICTURE_BYTES:
            weights = np.concatenate([mean[None], pattern[heads]]).astype(np.float16)
            self._layers.append({"layer": layer, "heads": heads, "weights": weights})

    def message(self) -> dict[str, Any]:
        """What the browser gets: of layers the mean and the heads, [., query, key]; and rolled out, where no
        layer between mixes positions without attention.
        """
        if self._numbers != list(range(len(self._numbers))):
            return {"layers": self._layers}
        rolled = rollout(np.stack(self._means)[:, None])[-1]
        return {"layers": self._layers, "rolled": rolled.astype(np.float16)}


WINDOW = 128
EXACT_BYTES = 400_000
THUMB_BYTES = 300_000
MIN_THUMB, MAX_THUMB = 24, 128
TOP_TOKENS = 10
MAX_STEPS = {"encoder": 128, "decoder": 512}
STEP_ROWS = 64  # rows whose probabilities are held at once
ARRAYS = ("q", "k", "v", "z", "bias", "scores", "pattern")
ROWS = ("hidden", "left")
"""The weight of each row on special tokens, and on all others, where there are any."""
MATRICES = ("bias", "scores", "pattern")
Progress = Callable[[int, int], None]
WHOLE_TENSORS = ("encoder.norm", "decoder.norm", "logits")
HEAD = Matrix(  # one head; the browser puts its numbers and its tokens in
    values=np.zeros((1, 1), np.float32), row_axis="query", column_axis="key", scale="weights", picture=True
).chart


@dataclass(frozen=True)
class Opened:
    """The head that is open, where its window begins, and whether special tokens are shown."""

    stack: str = "encoder.self"
    layer: int = 0
    head: int = 0
    q0: int = 0
    k0: int = 0
    special: str = SHOWN


@dataclass(frozen=True)
class Plan:
    """Which numbers to keep of a stack: heads by layer, and the window."""

    heads: dict[int, list[int]]
    queries: slice
    keys: slice


def plan(stacks: tuple[Stack, ...], opened: Opened) -> dict[str, Plan]:
    """What to send in full: every head if all fit the budget, else the open layer's, else the open head."""

    def window(stack: Stack, begin: int, length: int) -> slice:
        size = min(length, WINDOW)
        begin = min(max(0, begin), length - size) if opened.stack == stack.id else 0
        return slice(begin, begin + size)

    windows = {s.id: (window(s, opened.q0, s.n_query), window(s, opened.k0, s.n_key)) for s in stacks}

    def cost(stack: Stack) -> int:
        nq, nk = (part.stop - part.start for part in windows[stack.id])
        return 4 * ((2 + stack.attention.has_bias) * nq * nk + 2 * (nq + nk) * stack.attention.d_head)

    def planned(choose: Any) -> dict[str, Plan]:
        return {stack.id: Plan(choose(stack), *windows[stack.id]) for stack in stacks}

    if sum(cost(s) * s.n_layers * s.n_heads for s in stacks) <= EXACT_BYTES:
        return planned(lambda s: {layer: list(range(s.n_heads)) for layer in s.attention.layers})
    open_stack = next((s for s in stacks if s.id == opened.stack), stacks[0])
    layer = open_stack.attention.nearest(opened.layer)
    head = min(opened.head, open_stack.n_heads - 1)
    whole_layer = cost(open_stack) * open_stack.n_heads <= EXACT_BYTES
    heads = list(range(open_stack.n_heads)) if whole_layer else [head]
    return planned(lambda s: {layer: heads} if s.id == open_stack.id else {})


class Collector:
    """The `reduce` of a trace: it takes from each tensor what the screen shows and lets the rest go."""

    def __init__(
        self, subject: Subject, opened: Opened, progress: Progress = lambda number, of: None
    ) -> None:
        stacks = subject.stacks
        self._progress, self._n_patterns = progress, 0
        self._n_layers = sum(stack.n_layers for stack in stacks)
        self._plan = plan(stacks, opened)
        self._edited = bool(subject.inputs.edits)
        self._stacks = {stack.id: stack for stack in stacks}
        self._special = opened.special
        self._rows = {s.id: subject.rows(s) for s in stacks if s.query_side != s.key_side}
        self._hiding = {stack.id: hiding_of(subject, stack) for stack in stacks}
        self.hidden: dict[str, list[float]] = {stack.id: [] for stack in stacks}  # [layer * head]
        n_heads = sum(stack.n_layers * stack.n_heads for stack in stacks)
        self.thumb_size = int(np.clip((THUMB_BYTES / n_heads) ** 0.5, MIN_THUMB, MAX_THUMB))
        self.thumbs: dict[str, list[np.ndarray]] = {stack.id: [] for stack in stacks}
        self.measured = Measured(subject)
        self.exact: dict[tuple[str, int], dict[str, np.ndarray]] = {}
        self.coarse: dict[tuple[str, int], np.ndarray] = {}  # every head of the open layer, as bytes

    def __call__(self, address: str, tensor: Any) -> Any | None:
        self._progress(self._n_patterns, self._n_layers)
        where = Address.parse(address)
        if where.kind not in ("self", "cross") or where.name not in ARRAYS:
            return tensor if address in WHOLE_TENSORS else None
        stack, layer, name, array = where.family, where.layer, where.name, tensor.numpy()
        if name == "pattern":
            self._n_patterns += 1
            self._take(stack, layer, array)
        self._keep(stack, layer, name, array)
        return None

    def _take(self, stack: str, layer: int, pattern: np.ndarray) -> None:
        """What is kept of all heads; only measures are of the whole pattern, special tokens included."""
        if self._edited:  # by hand a weight may become anything; its colour is that of the nearest end
            pattern = np.clip(pattern, 0, 1)
        hiding, chosen = self._hiding[stack], self._plan[stack]
        visible, heads = hiding.apply(pattern, self._special), chosen.heads.get(layer, [])
        self.thumbs[stack].append(thumbnails(visible, self.thumb_size))
        self.measured.take(stack, pattern)
        if heads and len(heads) < len(pattern) and self.thumb_size < max(pattern.shape[1:]):
            self.coarse[stack, layer] = thumbnails(visible[:, chosen.queries, chosen.keys], WINDOW)
        if hiding.any:
            self.hidden[stack] += hiding.mean_hidden(pattern).round(4).tolist()
            rows = {"hidden": hiding.on_hidden(pattern), "left": hiding.rest(pattern)}
            for name, sums in rows.items() if heads else ():
                self.exact.setdefault((stack, layer), {})[name] = sums[heads, chosen.queries].astype("<f4")

    def _keep(self, stack: str, layer: int, name: str, array: np.ndarray) -> None:
        chosen = self._plan[stack]
        heads = chosen.heads.get(layer)
        if not heads:
            return
        rows = chosen.keys if name in "kv" else chosen.queries
        from_heads = [head // self._stacks[stack].sharing for head in heads] if name in "kv" else heads
        part = array[from_heads, rows, chosen.keys] if name in MATRICES else array[from_heads, rows]
        self.exact.setdefault((stack, layer), {})[name] = np.ascontiguousarray(part, dtype="<f4")

    def stacks(self) -> list[dict[str, Any]]:
        """What the browser gets of each stack; the thumbnails of its heads are [layer * head, query, key]."""
        stacks = []
        for stack in self._stacks.values():
            attention, thumbs = stack.attention, np.concatenate(self.thumbs[stack.id])
            stacks.append({
                "id": stack.id, "title": stack.title, "layers": attention.layers, "heads": stack.n_heads,
                "dHead": attention.d_head, "scales": attention.scales, "cap": attention.cap,
                "normalizer": attention.normalizer,
                "turned": attention.turned, "whole": attention.whole, "sharing": stack.sharing,
                "querySide": stack.query_side, "keySide": stack.key_side,
                "nQuery": stack.n_query, "nKey": stack.n_key, "rows": self._rows.get(stack.id),
                "thumbQuery": thumbs.shape[1], "thumbKey": thumbs.shape[2], "thumbs": thumbs,
                "hidden": self.hidden[stack.id], **self.measured.of(stack),
            })  # fmt: skip
        return stacks

    def open_heads(self) -> list[dict[str, Any]]:
        """The numbers of the heads that are sent in full, a layer each: arrays [head, ...] by their names."""
        return [
            {
                "stack": stack, "layer": layer, "heads": self._plan[stack].heads[layer],
                "arrays": {name: arrays[name] for name in (*ARRAYS, *ROWS) if name in arrays},
                "q0": self._plan[stack].queries.start, "k0": self._plan[stack].keys.start,
                "nq": arrays["pattern"].shape[1], "nk": arrays["pattern"].shape[2],
                "coarse": self.coarse.get((stack, layer)),
            }
            for (stack, layer), arrays in self.exact.items()
        ]  # fmt: skip


@dataclass(frozen=True)
class Body:
    """The part of a message that is the same for all visitors who ask for the same."""

    packed: Packed
    focus: dict[str, Any]
    unknown: list[dict[str, Any]]
    advice: Advice | None
    translation: list[dict[str, Any]]
    stacks: tuple[Stack, ...]
    n_steps: int = 0
    abilities: tuple[str, ...] = ()
    note: str = ""
    special: tuple[str, ...] = ()
    can_hide: bool = False


def body_of_inputs(inputs: Inputs, opened: Opened, progress: Progress = lambda number, of: None) -> Body:
    """What the stage gets for these inputs. Raises ValueError with a sentence where they are impossible.

    progress: hears of how many layers' attention is computed, and may raise to end it.
    """
    return build(subject_of(inputs), opened, progress)


def build(subject: Subject, opened: Opened, progress: Progress = lambda number, of: None) -> Body:
    """Runs the subject; returns what it computed, packed."""
    changed = EditedPass(subject, Collector(subject.unedited, opened)) if subject.inputs.edits else None
    collector, picture = Collector(subject, opened, progress), None
    if subject.reads_picture:
        heads = plan(subject.stacks, opened)[PICTURE_STACK].heads
        picture = PictureWeights(heads, subject.stacks[0].n_layers)
    collect = picture.beside(collector) if picture else collector
    trace = subject.run(changed.beside(collect) if changed else collect)
    antecedents, steps = subject.antecedents(trace), steps_of(subject, trace)
    side = "decoder" if steps and "decoder" in subject.tokens else "encoder"
    collector.measured.agree(antecedents or ())
    stacks = collector.stacks()
    special = special_positions(subject)
    beside = changed.message(trace, stacks, steps_of) if changed else {}
    # the cell worth opening first: the first pronoun and the noun that the encoder takes it for
    pronouns = [each for each in antecedents or [] if each["antecedent"] is not None]
    focus = (
        {"query": pronouns[0]["position"], "key": pronouns[0]["antecedent"]} if pronouns else subject.focus
    )
    tokens = (token for of_side in subject.tokens.values() for token in of_side)
    no_words = tuple(dict.fromkeys(token["text"] for token in tokens if token.get("mark") == "special"))
    header = {
        "tokens": subject.tokens, "special": special, "specialTokens": opened.special,
        "measures": head_measures.declared(stacks, collector.measured.notes), "stacks": stacks,
        "exact": collector.open_heads(),
        "steps": steps, "stepSide": side,
        "antecedents": antecedents, "asks": subject.asks, "chart": HEAD,
        **subject.extras, **subject.concluded(trace),
        **({"sight": picture.message()} if picture else {}), **beside,
    }  # fmt: skip
    return Body(
        pack(**header),
        focus | {"pinned": "query"} if focus else {},
        subject.unknown,
        subject.reading.advice,
        subject.extras.get("translation", []),
        subject.stacks,
        len(steps),
        subject.model.abilities,
        subject.note,
        no_words,
        any(special.values()),
    )


def steps_of(subject: Subject, trace: Any) -> list[dict[str, Any]]:
    """The most probable outputs at each position, by softmax of the trace's logits; [] where the logits do
    not choose between names.
    """
    count = len(subject.names)
    if not count:
        return []
    side = "decoder" if "decoder" in subject.tokens else "encoder"
    steps: list[dict[str, Any]] = []
    for rows in trace["logits"][: MAX_STEPS[side], :count].split(STEP_ROWS):
        values, ids = rows.double().softmax(-1).topk(min(TOP_TOKENS, count))
        for row_ids, row in zip(ids.tolist(), values.tolist(), strict=True):
            top = [
                [token_text(subject.names[i]), float(f"{p:.6g}")] for i, p in zip(row_ids, row, strict=True)
            ]
            chosen = subject.following(len(steps), str(top[0][0])) if side == "decoder" else None
            steps.append({"top": top, "chosen": chosen})
    return steps
