"""What a task reads texts with, as a tokenizer of transformers."""

from __future__ import annotations

from typing import Any

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors

from models.data.learnt_tokenizer import INSIDE, LearntTokenizer, byte_rules, word_rules
from models.data.tasks import Task
from models.data.tasks.masked import Masked
from models.data.tasks.parallel_text import ParallelText
from models.data.tasks.text_classes import TextClasses
from models.data.word_tokenizer import SPECIALS

_ROLES = {
    "<pad>": "pad_token", "[PAD]": "pad_token", "<unk>": "unk_token", "[UNK]": "unk_token",
    "<bos>": "bos_token", "<eos>": "eos_token", "[CLS]": "cls_token", "[SEP]": "sep_token",
    "[MASK]": "mask_token",
}  # fmt: skip


def tokenizer_of(task: Task) -> Any:
    """A `PreTrainedTokenizerFast` that gives a text the ids that the task gives it; None for a task whose
    texts are no tokens of such a kind (numbers, pictures, the grammar's two directions).
    """
    from transformers import PreTrainedTokenizerFast

    said = task.learnt().get("tokenizer")
    if said is None:
        return None
    learnt = LearntTokenizer.from_json(said)
    library = _library(learnt)
    template = _template(task)
    if template:
        used = [word for word in template.split() if word != "$A"]
        library.post_processor = processors.TemplateProcessing(
            single=template, special_tokens=[(word, learnt.id(word)) for word in used]
        )
    specials = learnt.vocabulary[: learnt.n_specials]
    roles = {_ROLES[word]: word for word in specials if word in _ROLES}
    return PreTrainedTokenizerFast(tokenizer_object=library, **roles)


def _library(learnt: LearntTokenizer) -> Tokenizer:
    """The same with the special tokens as ids; a special token that is typed counts as one."""
    ids = {token: id_ for id_, token in enumerate(learnt.vocabulary)}
    unknown = "" if learnt.unknown_id is None else learnt.vocabulary[learnt.unknown_id]
    if learnt.kind == "characters":
        made = Tokenizer(models.WordLevel(ids, unk_token=unknown))
        made.pre_tokenizer = pre_tokenizers.Split(Regex(r"[\s\S]"), "isolated")
        made.decoder = decoders.Fuse()
    elif learnt.kind == "bpe":
        made = Tokenizer(models.BPE(vocab=ids, merges=list(learnt.merges)))
        made.pre_tokenizer, made.decoder = byte_rules(), decoders.ByteLevel()
    else:
        made = Tokenizer(models.WordPiece(vocab=ids, unk_token=unknown))
        made.normalizer, made.pre_tokenizer = word_rules()
        made.decoder = decoders.WordPiece(prefix=INSIDE, cleanup=False)
    made.add_special_tokens(list(learnt.vocabulary[: learnt.n_specials]))
    return made


def special_ids(task: Task) -> dict[str, int]:
    """The ids that an architecture of transformers asks for, of a task that writes a text after another."""
    if task.kind != "encoder-decoder" or tuple(task.outputs()[: len(SPECIALS)]) != SPECIALS:
        return {}
    bos, eos = SPECIALS.index("<bos>"), SPECIALS.index("<eos>")
    return {"bos_token_id": bos, "eos_token_id": eos, "decoder_start_token_id": bos}


def _template(task: Task) -> str:
    """The special words that the task puts around a text."""
    if isinstance(task, ParallelText):
        return "$A <eos>"
    if isinstance(task, Masked):
        return "[CLS] $A [SEP]"
    return "[CLS] $A" if isinstance(task, TextClasses) and task.pool == "cls" else ""
