"""A sentence translated greedily, and all that the model computed at every step of it.

Row t of the decoder depends on the words up to t alone (Vaswani et al. 2017, 3.2.3), so one forward pass over
the finished translation holds the numbers of every step.
"""

from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from models.data.word_tokenizer import BOS, EOS
from models.engine.trace import Trace
from models.engine.transformer import Transformer
from models.lessons.known_words import check_known, check_length
from models.zoo.engine_model import Translator

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


def of(translator: Translator, text: str, direction: str, most_words: int) -> Reading:
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
