"""What the page on encoder and decoder can be asked, and the values that it offers."""

from dataclasses import dataclass
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from attention_lab.models.data.word_tokenizer import BOS, EOS
from attention_lab.models.engine.trace import Trace
from attention_lab.models.engine.transformer import Transformer
from attention_lab.models.fields import characters, number, one_of, setting, whole
from attention_lab.pages.lab.any_model import NAME, OPTION, Other, Translator, check_known, check_length
from attention_lab.pages.shared import cache

SENTENCE = "the animal did not cross the street because it was too tired"
INCOMPLETE = "la vieille loutre voit toujours le petit la nuit"
MAX_WORDS = 14
MAX_STEPS = 20
MOST_MOMENTS = 400
READERS = {"translator": "the shipped translator"} | OPTION
MOST_HEADS = 1_024
DIRECTIONS = {"en-fr": "English → French", "fr-en": "French → English"}
WIDTHS = tuple(range(1, 9))
PENALTIES = {"gnmt": "the paper's", "length": "length^α"}
TOP_K = (0, 1, 2, 3, 5, 10, 40)  # 0: all words
TOP_P = (1.0, 0.99, 0.95, 0.9, 0.75, 0.5, 0.25)


@dataclass(frozen=True)
class Inputs(Other):
    """All parts' inputs; `phrase` is the sentence of beam search and sampling, where words may be missing."""

    other: str = setting("translator-plain", NAME, "Name", control="list")
    reader: str = setting("translator", one_of(READERS), "Model")
    text: str = setting(SENTENCE, characters(400), "Sentence")
    direction: str = setting("en-fr", one_of(DIRECTIONS), "Direction")
    moment: int = setting(0, whole(0, MOST_MOMENTS))
    head: int = setting(7, whole(0, MOST_HEADS - 1))
    phrase: str = setting(INCOMPLETE, characters(400), "Sentence")
    phrase_direction: str = setting("fr-en", one_of(DIRECTIONS), "Direction")
    width: int = setting(2, one_of(WIDTHS), "Beam width", "Sentences kept at each step", control="steps")
    length_penalty: float = setting(
        0.0,
        number(0, 2),
        "Exponent α",
        "Finished sentences rank by log p divided by the penalty",
        "slider",
        more={"step": 0.1},
    )
    penalty: str = setting(
        "gnmt",
        one_of(PENALTIES),
        "Length penalty",
        "Wu et al. 2016 take α = 0.6; with length^1, log p is the mean per word",
        control="segments",
    )
    step: int = setting(20, whole(0, MAX_STEPS))
    word: int = setting(8, whole(1, MAX_STEPS), "Word to choose", control="list")
    temperature: float = setting(1.0, number(0.1, 4))
    top_k: int = setting(
        0,
        one_of(TOP_K),
        "Top-k",
        "Fan et al. 2018: only the k likeliest words",
        show=lambda k: str(k or "all words"),
    )
    top_p: float = setting(
        1.0,
        one_of(TOP_P),
        "Top-p",
        "Holtzman et al. 2020: the fewest words that together reach p",
        show=lambda p: "all words" if p == 1 else str(p),
    )
    seed: int = setting(0, whole(0, 999), "Seed", "Another seed draws other sentences", control="slider")
    put: str = setting("elle", characters(40), "Word put there", "One word that the translator knows")
    at: int = setting(11, whole(1, MAX_STEPS))


MOST_STEPS = 20
_KEPT = (".self.pattern", ".cross.pattern", ".q", ".k", ".v", "logits")


class Reading(NamedTuple):
    """What the encoder reads; what the decoder reads at each step; what it writes there."""

    model: Transformer
    vocabulary: list[str]
    source: list[str]
    source_ids: Int[Tensor, "1 source"]
    target_ids: Int[Tensor, "1 read"]
    read: list[str]
    written: list[str]
    text: str
    trace: Trace

    @property
    def logits(self) -> Float[Tensor, "step vocab"]:
        """Row t: the scores from which word t was chosen."""
        logits: Tensor = self.trace["logits"]
        return logits


def translation_of(translator: Translator, text: str, direction: str, most_words: int) -> Reading:
    """The translator's own translation ("en-fr" or "fr-en"), of at most MOST_STEPS words.

    Raises ValueError for a text that is empty, longer than `most_words`, or has a word that it does not know.
    """
    encoded = understood(translator, text, direction, most_words)
    source = torch.tensor([encoded])
    ids = translate(translator.model, source)
    vocabulary = translator.task.words.vocabulary
    trace = Trace(lambda address, tensor: tensor if address.endswith(_KEPT) else None)
    with torch.no_grad():
        translator.model(source, ids[:, :-1], trace=trace)
    words = [vocabulary[id_] for id_ in ids[0].tolist()]
    language = "fr" if direction == "en-fr" else "en"
    plain = [id_ for id_ in ids[0].tolist() if id_ not in (BOS, EOS)]
    return Reading(
        model=translator.model,
        vocabulary=vocabulary,
        source=[vocabulary[id_] for id_ in encoded],
        source_ids=source,
        target_ids=ids[:, :-1],
        read=words[:-1],
        written=words[1:],
        text=translator.task.words.decode(plain, language=language),
        trace=trace,
    )


@torch.no_grad()
def translate(model: Transformer, source: Int[Tensor, "1 source"]) -> Int[Tensor, "1 target"]:
    """Encode once, then write the likeliest word again and again; <bos> and, if it ended, <eos> included."""
    memory = model.encode(source)  # [1, source, d_model]
    target = torch.tensor([[BOS]])
    for _ in range(MOST_STEPS):
        logits = model.decode(target, memory, source)[:, -1]  # [1, vocab]: what follows the last word
        word = logits.argmax(dim=-1, keepdim=True)
        target = torch.cat([target, word], dim=1)
        if word.item() == EOS:
            break
    return target


def understood(translator: Translator, text: str, direction: str, most_words: int) -> list[int]:
    """The ids that the encoder reads. Raises ValueError where it cannot read them all."""
    check_length(len(translator.task.words.encode(text).ids), most_words)
    encoded = translator.task.encode_source(text, direction=direction)
    check_known(encoded.unknown, len(translator.task.words))
    return encoded.ids


def one_word(translator: Translator, text: str) -> int:
    """The id of a word. Raises ValueError where the text is not one word that the translator knows."""
    encoded = translator.task.words.encode(text)
    if len(encoded.ids) != 1:
        raise ValueError(f"“{text}” is {len(encoded.ids)} words; write exactly one, such as elle.")
    check_known(encoded.unknown, len(translator.task.words))
    return encoded.ids[0]


SENTENCE_CONTROLS = ("text", "direction")
PHRASE_CONTROLS = ("phrase", "phrase_direction")


@cache.kept(cache.results, lambda read: 4_000 + sum(read.trace[address].nbytes for address in read.trace))
def reading_of(text: str, direction: str) -> Reading:
    """A sentence and its translation; ValueError with a sentence where there is none."""
    return translation_of(cache.translator(), text, direction, MAX_WORDS)
