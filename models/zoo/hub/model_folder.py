"""Lists the models of transformers on this machine and reads their folders, without torch.

A name is `hf:` and one of: a repository in the local cache (`hf:gpt2`, `hf:google/vit-base-patch16-224`), a
folder of `models_root()`, or the whole path of a folder.
"""

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import Any
from zlib import crc32

import psutil
from cachetools import LRUCache

from ...byte_units import readable
from ...files import FileError, read_json, read_json_if_any
from ...limits import in_force

PREFIX = "hf:"
NAME = re.compile(r"hf:(?:~?/[^\x00-\x1f]{1,300}|[\w-][\w.-]{0,95}(?:/[\w-][\w.-]{0,95})?)")
CONFIG = "config.json"
WEIGHTS = ".safetensors"
PROCESSOR = "preprocessor_config.json"
"""It says how pictures are resized and normalised."""
PASSED: LRUCache[tuple[Path, int], str] = LRUCache(256)
"""The kinds of the models that were opened, by folder and stamp."""
MOST_LISTED = 100
_NAMED = 5
"""Folders that a sentence names; of more, it says how many."""
MOST_SIZE = 20_000_000
"""Any other number of a config, unless its files are large; Llama 4 has 10,485,760 positions."""
_MOST = (
    (re.compile(r"theta|base|seed"), 10**12),  # of a formula
    (re.compile(r"layers$|^n_layer$|depths?$|blocks$|stages$|groups?(_num)?$|attention_types$"), 1_000),
    (re.compile(r"experts|labels|classes|^num_(?!param)"), 100_000),
)
"""The most of what a config counts, by parts of names: layers, classes and experts are made one by one."""
TOKENIZERS = ("tokenizer.json", "vocab.txt", "vocab.json", "tokenizer.model", "spiece.model", "source.spm")
PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_SIZES = {
    "n_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "encoder_layers"),
    "n_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"),
    "d_model": ("hidden_size", "n_embd", "dim", "d_model"),
    "d_ff": ("intermediate_size", "n_inner", "hidden_dim", "d_ff", "encoder_ffn_dim", "ffn_dim"),
    "d_head": ("head_dim", "d_kv"),
    "vocab_size": ("vocab_size",),
    "max_len": ("max_position_embeddings", "n_positions"),
}
"""The fields of our configs, and the names that transformers' configs give them."""


class NoRoomError(FileError):
    """A model that needs more memory than may be taken now."""


def models_root() -> Path | None:
    """The environment's ATTENTION_LAB_MODELS: a folder whose folders are models; None where it is not set."""
    path = os.environ.get("ATTENTION_LAB_MODELS")
    return Path(path).expanduser() if path else None


def is_path(name: str) -> bool:
    """Whether a name says where a folder lies, rather than which model is meant."""
    return name.removeprefix(PREFIX).startswith(("/", "~"))


def folder_of(name: str) -> Path:
    """The folder of a model. Raises FileError where it is not on this machine."""
    plain = name.removeprefix(PREFIX)
    no_name = FileError(f"{plain[:100]!r} is no name of a model; give one like gpt2, owner/name or /a/folder")
    if not NAME.fullmatch(name):
        raise no_name
    if is_path(name):
        folder = Path(plain).expanduser()
        if not folder.is_dir():
            raise FileError(f"{plain[:100]!r} is no folder on this machine; give the folder of a model")
        return folder
    root = models_root()
    if root is not None and (root / plain).is_dir():
        return root / plain
    from huggingface_hub import errors, try_to_load_from_cache

    try:
        path = try_to_load_from_cache(plain, CONFIG)
    except errors.HFValidationError:  # what the hub allows in a name changes with it
        raise no_name from None
    if not isinstance(path, str):
        raise FileError(f"{plain!r} is not on this machine; give its folder, or download it first")
    return Path(path).parent


def whole_name(name: str) -> str:
    """The name of a model, or of a folder from where the program runs ("hf:./mine", "hf:mine"): then with its
    whole path. Raises FileError where both are meant, or neither.
    """
    plain = name.removeprefix(PREFIX)
    is_here = plain != "" and not is_path(name) and os.path.isdir(plain)
    try:
        folder_of(name)
    except FileError:
        if not is_here:
            raise
    else:
        if is_here and os.path.isfile(os.path.join(plain, CONFIG)):
            raise FileError(
                f"{name!r} names a downloaded model and a folder here; write '{PREFIX}./{plain}' for the "
                "folder"
            )
        is_here = False
    return f"{PREFIX}{Path(plain).resolve()}" if is_here else name


def local_names() -> list[str]:
    """The names of all models on this machine that a name can reach, at most `MOST_LISTED`, in order."""
    root, plain = models_root(), set()
    if root is not None and root.is_dir():
        plain |= {path.parent.name for path in root.glob(f"*/{CONFIG}")}
    from huggingface_hub import constants

    for folder in Path(constants.HF_HUB_CACHE).glob("models--*"):
        if any(folder.glob(f"snapshots/*/{CONFIG}")):
            plain.add(folder.name.removeprefix("models--").replace("--", "/"))
    names = (f"{PREFIX}{name}" for name in sorted(plain))
    return [name for name in names if NAME.fullmatch(name)][:MOST_LISTED]


def openable_names() -> list[str]:
    """Those of `local_names` whose weights are safetensors, and whose architecture transformers knows."""
    found = []
    for name in local_names():
        try:
            found.append(open_folder(name))
        except (FileError, OSError):
            continue
    if not found:
        return []
    # It imports torch, which only a program that opens models needs.
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING

    return [folder.name for folder in found if folder.config.get("model_type") in CONFIG_MAPPING]


@dataclass(frozen=True)
class Folder:
    """What a model's folder says of it."""

    name: str
    path: Path
    config: dict[str, Any]

    @cached_property
    def weights(self) -> tuple[Path, ...]:
        """Its files of weights, all of them safetensors. Raises FileError where there are none."""
        files = tuple(sorted(self.path.glob("*.safetensors")))
        if not files and any(any(self.path.glob(pattern)) for pattern in PICKLES):
            raise FileError(
                f"{self.title} has its weights as pickles alone, but only .safetensors is "
                "read: convert it, or choose another model"
            )
        if not files:
            raise FileError(
                _no_model(self.path, self.title)
                or f"{self.title} has no .safetensors file, the only format that is read; get it again, or "
                "choose another model"
            )
        return files

    @property
    def n_bytes(self) -> int:
        """The bytes of the weights, in the number format of the file, which is kept."""
        return sum(path.stat().st_size for path in self.weights)

    @property
    def stamp(self) -> int:
        """It changes with every file."""
        known = [(path.name, path.stat()) for path in sorted(self.path.iterdir()) if path.is_file()]
        return crc32(repr([(name, stat.st_mtime_ns, stat.st_size) for name, stat in known]).encode())

    @property
    def title(self) -> str:
        plain = self.name.removeprefix(PREFIX)
        return Path(plain).name if is_path(self.name) else plain

    @property
    def architecture(self) -> str:
        """The class of transformers that it was saved from; "" where it does not say."""
        names = self.config.get("architectures")
        return str(names[0]) if isinstance(names, list) and names else ""

    @property
    def kind(self) -> str:
        """The kind of its stacks: as a pass has told, or before one, as far as the config says it."""
        known = PASSED.get((self.path, self.stamp)) if PASSED else None
        if known is not None:
            return known
        if self.config.get("is_encoder_decoder") is True:
            return "encoder-decoder"
        causal = ("ForCausalLM", "LMHeadModel", "DoubleHeadsModel")
        return "decoder-only" if self.architecture.endswith(causal) else "encoder-only"

    @property
    def has_tokenizer(self) -> bool:
        return any((self.path / name).is_file() for name in TOKENIZERS)

    def has(self, name: str) -> bool:
        """Whether there is a file of this name."""
        return (self.path / name).is_file()

    @cached_property
    def tokenizer_config(self) -> dict[str, Any]:
        return read_json_if_any(self.path / "tokenizer_config.json")

    @property
    def reads_pictures(self) -> bool:
        """Whether its tokens are patches alone; BEiT states the number of words that it predicts for them,
        but no number of positions of a text.
        """
        of_words = {"vocab_size", "max_position_embeddings"}
        reads_words = "text_config" in self.config or of_words <= set(self.config)
        return isinstance(self.config.get("patch_size"), int) and not reads_words

    @property
    def _n_patches(self) -> int:
        """About how many patches it makes of a picture; a pass tells for certain."""
        side, patch = _first(self.config, ("image_size",)) or 224, _first(self.config, ("patch_size",)) or 16
        return (side // patch) ** 2

    @property
    def sizes(self) -> dict[str, Any]:
        """The sizes that the config states, by the names of our own configs."""
        inner = self.config.get("text_config")
        config = {**self.config, **(inner if isinstance(inner, dict) else {})}
        sizes = {ours: _first(config, theirs) for ours, theirs in _SIZES.items()}
        if self.reads_pictures:
            sizes["max_len"] = self._n_patches + 1
        return {"kind": self.kind} | {name: size for name, size in sizes.items() if size is not None}


@dataclass(frozen=True)
class InMemory(Folder):
    """A model that a notebook holds, in the place of a folder. number: that of no other model."""

    number: int
    held: int

    @property
    def n_bytes(self) -> int:
        return self.held

    @property
    def stamp(self) -> int:
        return self.number


def _first(config: dict[str, Any], names: tuple[str, ...]) -> int | None:
    sizes = (config.get(name) for name in names)
    return next((size for size in sizes if type(size) is int and 0 < size < 10**9), None)


def open_folder(name: str) -> Folder:
    """What is known of a model on this machine. Raises FileError where it cannot be opened."""
    path = folder_of(name)
    if not (path / CONFIG).is_file():
        raise FileError(
            _no_model(path, repr(path.name[:100]))
            or f"{path.name[:100]!r} holds no {CONFIG}, which every model of transformers has"
        )
    folder = Folder(name, path, read_json(path / CONFIG))
    if "auto_map" in folder.config and not folder.config.get("model_type"):
        raise FileError(
            f"{folder.title} needs a program of its own, which is never run; choose another model"
        )
    weights_name = str(folder.config.get("transformers_weights") or WEIGHTS)
    if not weights_name.endswith((WEIGHTS, f"{WEIGHTS}.index.json")):
        raise FileError(
            f"{folder.title} names {weights_name[:80]!r} as its weights, but only {WEIGHTS} is read: "
            "convert it, or choose another model"
        )
    _check_sizes(folder)
    if folder.reads_pictures and not folder.has(PROCESSOR):
        raise FileError(
            f"{folder.title} has no {PROCESSOR}, which says how pictures are prepared; "
            "save its image processor into the same folder"
        )
    sees_alone = folder.has(PROCESSOR) and "text_config" not in folder.config and not folder.has_tokenizer
    if sees_alone and not folder.reads_pictures:
        raise FileError(
            f"{folder.title} has no tokenizer, and its {CONFIG} states no single patch_size; open a model of "
            "texts, or a ViT, DeiT or DINO model"
        )
    if not folder.has_tokenizer and not folder.reads_pictures:
        raise FileError(
            f"{folder.title} has no tokenizer beside its weights ({TOKENIZERS[0]}); save it into the same "
            "folder, or open another model"
        )
    return folder


def _no_model(path: Path, title: str) -> str:
    """Says that a folder is no model, but that folders in it are; "" where none in it is."""
    configs = sorted(islice(path.glob(f"*/{CONFIG}"), MOST_LISTED))
    names = [each.parent.name[:60] for each in configs if any(each.parent.glob("*.safetensors"))]
    return inside(title, names) if names else ""


def inside(title: str, names: Sequence[str]) -> str:
    """The sentence on a folder or repository that holds models, by the names of their folders."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return f"{title} is no model, but holds {', '.join(names[:_NAMED])}{more}; give the folder of one"


def _check_sizes(folder: Folder) -> None:
    """Raises FileError for a config of larger numbers than any model has whose files have so many bytes.

    It keeps short what is made before the files' weights are compared with it.
    """
    n_bytes = folder.n_bytes  # which raises where there are no weights to read
    if not n_bytes:
        raise FileError(f"{folder.title} has empty files of weights; download it again")
    for name, size in _integers(folder.config):
        most = next((most for names, most in _MOST if names.search(name)), max(MOST_SIZE, 8 * n_bytes))
        if size > most:
            raise FileError(
                f"{folder.title} states {name[:60]}={min(size, 10**15):,} in its {CONFIG}, above the limit "
                f"{most:,}: get the file again"
            )


def _integers(config: dict[str, Any]) -> Iterator[tuple[str, int]]:
    """The whole numbers of a config, however deep, each by the nearest name above it."""
    waiting: list[tuple[str, Any]] = list(config.items())
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.items()
        elif isinstance(value, list):
            waiting += [(name, each) for each in value]
        elif type(value) is int:
            yield name, value


WORKING = 1.3
"""Loading takes so many times the bytes of the weights for a moment."""


def check_memory(folder: Folder) -> None:
    """Raises NoRoomError for weights that take more than a model may take here."""
    check_memory_room(folder.title, round(WORKING * folder.n_bytes))


def check_memory_room(title: str, needed: int) -> None:
    """Raises NoRoomError where so many bytes are more than a model may take here."""
    most = in_force().hub_mb * 1_000_000 or psutil.virtual_memory().available // 2
    if needed > most:
        raise NoRoomError(
            f"{title} needs about {readable(needed)} of memory, but at most {readable(most)} may be taken "
            "here; open a smaller model, or close other programs"
        )
