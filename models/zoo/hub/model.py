"""Traces a model of transformers: whatever it reads, its pass is recorded alike."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from contextlib import ExitStack
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel

from ...data.tasks.batch import Alphabet, Rarity, Reading, Repeated, Writing, check_room
from ...engine.long_text import LongHeads, LongTrace, Progress
from ...engine.size import CELL
from ...engine.trace import Trace
from ...engine.unembedding import Unembedding
from ...interventions.edited_pass import Editing
from ..model import Attention, Change, Edits, Model, Wanted, call, in_format_of, sharing_weights
from .layout import LayerModules
from .loading import load, pattern_fields
from .long_reading import reading_long
from .model_folder import Folder, InMemory
from .proof import check_pattern, tolerance_of
from .recorder import Recorder, read_by, recorded_addresses, unembedding_of
from .tokenizer import OpenTokenizer, Tokenizer


class TracedModel(Model):
    """A model of transformers, loaded from a folder of this machine. A subclass says how it reads.

    note: what of it cannot be shown, in sentences; "" if nothing is missing. input_names: by which the
    network takes what was read; usual: what else each pass is given.
    """

    input_names: ClassVar[tuple[str, ...]]
    usual: ClassVar[dict[str, Any]] = {}
    pooled: str | None = None

    def __init__(self, folder: Folder, net: PreTrainedModel | None = None) -> None:
        self.folder = folder
        self.name = folder.name
        self.net, self.kind, self.layout, self.attentions, self.note = load(folder, net)
        self.n_bytes = folder.n_bytes

    def attention(self, stack: str) -> Attention:
        return self.attentions[stack]

    def operations(self, lengths: Sequence[int]) -> int:
        """Two for every weight and token, as often as layers are called, and those of attention's cells."""
        weights = 2 * self._n_weights_used * max(lengths)
        cells = 0
        for stack, attention in self.attentions.items():
            query = lengths[-1] if stack.startswith("decoder") else lengths[0]
            key = lengths[0] if stack.endswith("cross") else query
            # Of patterns alone the width of a head is not known: then it is an equal part of the stream.
            d_head = attention.d_head or self.folder.sizes.get("d_model", 0) // attention.n_heads
            each = 4 * d_head + CELL
            cells += attention.n_layers * attention.n_heads * query * key * each
        return weights + cells

    @cached_property
    def _n_weights_used(self) -> int:
        """The weights of the model, those of a layer as often as it is called."""
        called = [layer.module for layer in self.layout.layers] if self.layout else []
        again = [module for at, module in enumerate(called) if module in called[:at]]
        return sum(p.numel() for module in (self.net, *again) for p in module.parameters())

    def _output_maps(self) -> dict[str, nn.Module | None]:
        layers = self._numbered()
        return {f"{layer.at}.{kind}": layer.out.get(kind) for layer in layers for kind in layer.calls}

    def layers(self) -> dict[str, nn.Module]:
        return {layer.at: layer.module for layer in self._numbered()} or dict(super().layers())

    def _numbered(self) -> list[LayerModules]:
        if self.layout is None:
            return []
        return [layer for stack in self.layout.stacks for layer in self.layout.of(stack)]

    def remade(self, change: Change) -> TracedModel:
        other = copy(self)
        other.net, other.layout = sharing_weights(self.net, (self.net, self.layout))
        for known in ("_addresses", "_n_weights_used"):  # they speak of the modules of the other
            other.__dict__.pop(known, None)
        change(other.net)
        return other

    def logits(self, reading: Reading, n_rows: int, at: int | None) -> Tensor:
        return self._rows(reading, n_rows, at, "logits")

    def last(self, reading: Reading, n_rows: int, at: int | None) -> Tensor:
        return self._rows(reading, n_rows, at, "logits", "last_hidden_state")

    def _rows(self, reading: Reading, n_rows: int, at: int | None, *names: str) -> Tensor:
        """The first of these that the network gives."""
        inputs = (read.expand(n_rows, *read.shape[1:]) for read in reading.inputs)
        output = self.net(**dict(zip(self.input_names, inputs, strict=False)), **self.usual)
        found = next((whole for name in names if (whole := getattr(output, name, None)) is not None), None)
        if found is None:
            raise ValueError(
                f"{self.name!r} has no output of words or classes; take a distance, or a metric of the trace"
            )
        rows = (found if found.ndim == 3 else found[:, None]).float().cpu()
        return rows if at is None else rows[:, [at]]

    def compute(self, reading: Reading, trace: Trace) -> None:
        inputs = in_format_of(self.net, reading.inputs)
        keywords = dict(zip(self.input_names, inputs, strict=False)) | self.usual
        try:
            if self.layout is None:
                self._patterns(reading, trace, keywords)
                return
            lengths = {side: len(tokens) for side, tokens in reading.tokens.items()}
            with Recorder(trace, self.layout, lengths).recording():
                output = self.net(**keywords)
            self._conclude(trace, output)
        except (
            LookupError,
            ArithmeticError,
            AssertionError,
            RuntimeError,
            TypeError,
            AttributeError,
        ) as error:
            raise ValueError(
                f"{self.folder.title} could not read this ({type(error).__name__}: {str(error)[:200]}); "
                "give another input, or open another model"
            ) from error

    def addresses(self) -> Collection[str]:
        """What is heard of a pass and may be edited."""
        return () if self.layout is None else recorded_addresses(self.layout)

    def _patterns(self, reading: Reading, trace: Trace, inputs: dict[str, Any]) -> None:
        """What an architecture gives of itself whose attention cannot be recorded: its patterns."""
        if trace.edits:
            raise ValueError(f"{self.note} So nothing can be edited; open another model.")
        output = self.net(**inputs, output_attentions=True)
        for stack, field in pattern_fields(self.kind).items():
            side, kind = stack.split(".")
            n_queries = len(reading.tokens[side])
            n_keys = len(reading.tokens["encoder"]) if kind == "cross" else n_queries
            shape = (self.attentions[stack].n_heads, n_queries, n_keys)
            for layer, pattern in enumerate(getattr(output, field)):
                weights = pattern.float().cpu()
                check_pattern(weights[0], shape, tolerance_of(pattern.dtype))
                trace.record(f"{side}.{layer}.{kind}.pattern", weights)
        self._conclude(trace, output)

    def _conclude(self, trace: Trace, output: Any) -> None:
        logits = getattr(output, "logits", None)
        if logits is not None:
            rows = logits if logits.ndim == 3 else logits[:, None]
            trace.record("logits", rows.float().cpu())

    def code(self, text: str, **settings: Any) -> str:
        source = "model, tokenizer" if isinstance(self.folder, InMemory) else repr(self.name)
        load_it = f"from attention_lab.models import load_model\nlm = load_model({source})"
        return f"{load_it}\ntrace = {call('lm.trace', text, **settings)}"


# A model of transformers that reads texts: it is traced, answers and goes on writing.

MOST_CONTINUED = 16
"""Tokens that a decoder writes after a text while it is edited: each takes a pass over all before it."""
MOST_WRITTEN = 64
"""Tokens that an encoder-decoder writes after a text."""
LONG_SOURCE = 1_024
"""Tokens from which an encoder reads in blocks for the answer, too: its patterns would be large."""


class HubModel(TracedModel):
    """A model of transformers that reads texts."""

    input_names: ClassVar = ("input_ids", "decoder_input_ids")
    usual: ClassVar = {"use_cache": False}

    def __init__(self, folder: Folder, net: PreTrainedModel | None = None, tokenizer: Any = None) -> None:
        super().__init__(folder, net)
        self.tokenizer: Tokenizer | OpenTokenizer = (
            Tokenizer(folder) if tokenizer is None else OpenTokenizer(tokenizer)
        )
        name = type(self.net).__name__
        is_able = {
            "continue": self.kind == "decoder-only" and self.net.can_generate(),
            "fill": name.endswith("ForMaskedLM") and self.tokenizer.has_mask,
            "classify": name.endswith("ForSequenceClassification"),
            "answer": self.kind == "encoder-decoder" and self.net.can_generate(),
        }
        self.abilities = tuple(ability for ability, has in is_able.items() if has)

    @cached_property
    def outputs(self) -> tuple[str, ...]:  # type: ignore[override]
        """What each column of the logits stands for: a token, or a class."""
        config, name = self.net.config, type(self.net).__name__
        if name.endswith(("ForSequenceClassification", "ForTokenClassification")):
            return tuple(str(config.id2label.get(at, at)) for at in range(config.num_labels))
        head = self.net.get_output_embeddings()
        if head is None:
            return ()
        n_columns, n_known = head.weight.shape[0], self.tokenizer.n_tokens
        known = self.tokenizer.readable(list(range(min(n_columns, n_known))))
        return (*known, *(f"<unused {at}>" for at in range(n_known, n_columns)))

    @cached_property
    def max_len(self) -> int:
        """The most tokens that it reads; a tokenizer without a limit says a number beyond any text."""
        positions = self.folder.sizes.get("max_len")
        for name, module in self.net.named_modules():
            counts = "position" in name and isinstance(module, nn.Embedding)
            if counts and module.padding_idx is not None and module.num_embeddings == positions:
                positions -= module.padding_idx + 1  # as RoBERTa's, which begin after the padding
                break
        stated = [positions, self.tokenizer.max_len]
        known = [int(size) for size in stated if size is not None and size < 10**9]
        return min(known, default=10**6)

    @torch.no_grad()
    def read(  # type: ignore[override]
        self, text: str, *, target: str = "", long: str = "refuse", chat: str = "off"
    ) -> Reading:
        """The tokens of `text`, special ones with them; for an encoder-decoder followed by its own answer.

        target: an answer to read in its place. long: "cut" leaves out what is too long at the end. chat: "on"
        puts the text into the model's chat template. Raises ValueError for an empty text, one that is too
        long, and a template that is not there.
        """
        if chat == "on" and not self.tokenizer.has_template:
            raise ValueError(f"chat='on', but {self.folder.title} has no chat template; choose off")
        ids = self._ids(self.tokenizer.templated(text) if chat == "on" else text, chat == "off")
        return self._reading(ids[: self.max_len] if long == "cut" else ids, text, target)

    @torch.no_grad()
    def read_ids(self, ids: Sequence[int]) -> Reading:
        return self._reading(list(ids))

    def _reading(self, ids: list[int], text: str | None = None, target: str = "") -> Reading:
        if not ids or min(ids) < 0:
            raise ValueError(f"ids={ids[:20]} are no tokens; give one or more, from 0 on")
        check_room(len(ids), self.max_len)
        words = read_by(self.net.get_input_embeddings)
        stated = self.folder.sizes.get("vocab_size", max(ids) + 1)
        n_words = getattr(words, "num_embeddings", stated)
        if max(ids) >= n_words:
            raise ValueError(
                f"token {max(ids):,} is none of the {n_words:,} tokens of {self.folder.title}; get "
                "model and tokenizer from the same place"
            )
        text = self.tokenizer.decode(ids) if text is None else text
        source = torch.tensor([ids], device=self.net.device)
        if self.kind != "encoder-decoder":
            side = self.kind.removesuffix("-only")
            return Reading((source,), {side: self.tokenizer.readable(ids)}, text)
        # the decoder reads a given answer after its first token
        given = [self._first, *self.tokenizer.answer_ids(target)][: self.max_len] if target else None
        written = self._answer(source) if given is None else given
        tokens = {"encoder": self.tokenizer.readable(ids), "decoder": self.tokenizer.readable(written)}
        return Reading(
            (source, torch.tensor([written], device=self.net.device)), tokens, text,
            answer=self.tokenizer.decode(written), forced=bool(target),
        )  # fmt: skip

    def _ids(self, text: str, special: bool = True) -> list[int]:
        if not text.strip():
            raise ValueError("the text is empty; give at least one word")
        ids = self.tokenizer.ids(text, special=special)
        if not ids:
            raise ValueError("the tokenizer makes no token of this text; give another word")
        return ids

    def _answer(self, source: Tensor) -> list[int]:
        """What the model answers, greedy, without the token that ends it."""
        most = min(MOST_WRITTEN, self.max_len - 2)
        with ExitStack() as opened:
            # transformers makes a cache of as many layers as a T5's encoder has.
            n_cached = self.net.config.get_text_config(decoder=True).num_hidden_layers
            cached = self.attentions["decoder.self"].n_layers <= n_cached
            how: dict[str, Any] = {"attention_mask": torch.ones_like(source)}
            if source.shape[1] > LONG_SOURCE and self.layout is not None and not self.layout.places:
                how = {}
                unkept = LongTrace(lambda address: False)
                opened.enter_context(reading_long(self.net, self._addresses, unkept))
            sequences = self.net.generate(
                source, max_new_tokens=most, do_sample=False, num_beams=1, use_cache=cached, **how
            )
        ids = sequences[0].tolist()
        return ids[:-1] if len(ids) > 2 and ids[-1] == self.net.generation_config.eos_token_id else ids

    def writing(self, reading: Reading) -> Writing:
        if not self.layout or not {"answer", "continue"} & set(self.abilities):
            return super().writing(reading)
        end = self.net.generation_config.eos_token_id
        ends = frozenset(end if isinstance(end, list) else [] if end is None else [end])
        if self.kind == "encoder-decoder":
            most = min(MOST_WRITTEN, self.max_len - 2)
            return Writing((self._first,), most, ends, lambda ids: self._answered(reading, ids, ends))
        begun = tuple(reading.inputs[0][0].tolist())
        most = min(MOST_CONTINUED, self.max_len - len(begun))
        if most < 1:
            raise ValueError(f"{self.name!r} reads at most {len(begun)} tokens; give fewer")
        return Writing(begun, most, ends, lambda ids: self._continued(reading, ids))

    def following(self, reading: Reading, edit: Editing | None) -> Tensor:
        """As `generate` has them, which knows tokens that must not, or must, be written."""
        assert self.layout is not None
        trace = Trace(lambda address, value: None, edit=edit)
        inputs = dict(zip(self.input_names, reading.inputs, strict=False))
        with Recorder(trace, self.layout).recording():
            written: Any = self.net.generate(
                **inputs, attention_mask=torch.ones_like(reading.inputs[0]), max_new_tokens=1,
                use_cache=False, do_sample=False, num_beams=1, forced_eos_token_id=None,
                output_scores=True, return_dict_in_generate=True,
            )  # fmt: skip
        scores: Tensor = written.scores[0][0]
        return scores.float().cpu()

    def _answered(self, reading: Reading, ids: list[int], ends: frozenset[int]) -> Reading:
        """What was read, with these tokens in the decoder but for the one that ends them."""
        written = [self._first, *(ids[:-1] if len(ids) > 1 and ids[-1] in ends else ids)]
        return replace(
            reading,
            inputs=(reading.inputs[0], torch.tensor([written], device=self.net.device)),
            tokens=reading.tokens | {"decoder": self.tokenizer.readable(written)},
            answer=self.tokenizer.decode(written),
            forced=False,
        )

    def _continued(self, reading: Reading, ids: list[int]) -> Reading:
        """What was read, and these tokens after it."""
        read = torch.cat([reading.inputs[0], torch.tensor([ids], device=self.net.device)], dim=1)
        labels = {"decoder": self.tokenizer.readable(read[0].tolist())}
        answer = self.tokenizer.decode(ids)
        return replace(reading, inputs=(read,), tokens=labels, answer=answer)

    @property
    def _first(self) -> int:
        names = ("decoder_start_token_id", "bos_token_id", "pad_token_id")  # which not every config has
        configs = (getattr(self.net, "generation_config", None), self.net.config)
        stated = (getattr(config, name, None) for name in names for config in configs)
        return next((int(each) for each in stated if each is not None), 0)

    def unembedding(self) -> Unembedding:
        return super().unembedding() if self._unembedding is None else self._unembedding

    @cached_property
    def _unembedding(self) -> Unembedding | None:
        layers = self.layout.of(self.kind.removesuffix("-only").split("-")[-1]) if self.layout else []
        names = self.input_names if self.kind == "encoder-decoder" else self.input_names[:1]
        any_text = dict.fromkeys(names, torch.zeros(1, 2, dtype=torch.long, device=self.net.device))
        if not layers:
            return None
        return unembedding_of(self.net, layers[-1].module, lambda: self.net(**any_text, **self.usual))

    def made_of(self) -> Alphabet:
        return self._alphabet

    def rarity(self, reading: Reading) -> Rarity:
        return self.tokenizer.rarity([id_ for ids in reading.inputs for id_ in ids[0].tolist()])

    @cached_property
    def _alphabet(self) -> Alphabet:
        writes = self.kind == "encoder-decoder"
        side = "encoder" if writes else self.kind.removesuffix("-only")
        alphabet = self.tokenizer.alphabet(side, self.net.get_input_embeddings().num_embeddings)
        if not writes:
            return alphabet
        return alphabet._replace(before={**alphabet.before, "decoder": (self._first,)})

    def repeated(self, seed: int = 0) -> Repeated:
        text = super().repeated(seed)
        inputs = tuple(ids.to(self.net.device) for ids in text.reading.inputs)
        return text._replace(reading=replace(text.reading, inputs=inputs))

    @torch.no_grad()
    def long(
        self,
        reading: Reading,
        *,
        wants: Wanted = lambda address: True,
        progress: Progress = lambda share: None,
    ) -> dict[str, LongHeads]:
        if self.layout is None or self.layout.places:
            why = self.note or "It computes its attention as a matrix of all pairs."
            raise ValueError(f"{why} So it reads no long texts; open another model.")
        n_attentions = sum(each.n_layers for each in self.attentions.values())
        trace = LongTrace(wants, lambda n: progress(n / n_attentions))
        inputs = dict(zip(self.input_names, reading.inputs, strict=False)) | self.usual
        with reading_long(self.net, self._addresses, trace):
            self.net.base_model(**inputs)
        return trace.heads

    @cached_property
    def _addresses(self) -> dict[int, str]:
        """The address of each attention, by its module's id."""
        assert self.layout is not None
        return {
            id(call.module): f"{layer.at}.{kind}"
            for layer in self.layout.layers
            for kind, call in layer.calls.items()
        }

    @torch.no_grad()
    def generate(
        self, prompt: str, *, max_new_tokens: int = 40, temperature: float = 1.0, seed: int = 0,
        edits: Edits = (),
    ) -> str:  # fmt: skip
        if "continue" not in self.abilities:
            return super().generate(prompt, max_new_tokens=max_new_tokens)
        ids = torch.tensor(
            [self._ids(prompt)[-max(1, self.max_len - max_new_tokens) :]], device=self.net.device
        )
        if edits:
            reading = self._reading(ids[0].tolist(), prompt)
            writing = self.writing(reading)._replace(most=min(max_new_tokens, self.max_len - ids.shape[1]))
            return self._under_edits(writing, reading, edits, temperature, seed)
        sampling = {"do_sample": True, "temperature": temperature} if temperature else {"do_sample": False}
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            written = self.net.generate(
                ids, attention_mask=torch.ones_like(ids), max_new_tokens=max_new_tokens, top_k=0, **sampling,
                num_return_sequences=1, num_beams=1,
            )  # fmt: skip
        return self.tokenizer.decode(written[0, ids.shape[1] :].tolist())

    def fitted(self, text: str, more: str) -> str:
        ids = self._ids(text + more, special=False)
        if len(ids) <= self.max_len:
            return text + more
        return self.tokenizer.decode(ids[-self.max_len :])
