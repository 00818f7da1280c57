"""Traces a vision transformer of transformers, whose tokens are the patches of a picture."""

import os
import re
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from transformers import AutoImageProcessor

from ...data.tasks.batch import Reading
from ...engine.trace import Trace
from ...files import FileError, read_json_if_any
from ..folders import uploads_root
from . import photos
from .isolation import first_line
from .model import TracedModel
from .model_folder import PROCESSOR, Folder
from .photos import NAMES, drawn_picture
from .recorder import Recorder

HANDED_IN = re.compile(rf"[0-9a-f]{{64}}\.(?:{'|'.join(photos.ENDINGS)})")
"""The name of a picture that a visitor handed in: the hash of its content, and its ending."""
MOST_SIDE = 2_048
"""Pixels of a side of what a processor makes."""
MOST_SPECIAL = 16
"""Tokens before the patches: [CLS], and what some architectures have beside it."""


class PictureModel(TracedModel):
    """A model of transformers that reads pictures.

    A text names one: the number of a drawn picture, or a file that a visitor handed in. In a notebook,
    `read_picture` reads any other.
    """

    input_names: ClassVar = ("pixel_values",)

    def __init__(self, folder: Folder) -> None:
        super().__init__(folder)
        self.processor = _processor(folder)
        self.rows, self.columns, self.special = self._measured()
        self.abilities = ("classify",) if self.outputs else ()
        self.pooled = "The whole picture is read as" if self.outputs else None

    @cached_property
    def outputs(self) -> tuple[str, ...]:  # type: ignore[override]
        """The classes."""
        config = self.net.config
        if not type(self.net).__name__.endswith("ForImageClassification"):
            return ()
        return tuple(str(config.id2label.get(at, at)) for at in range(config.num_labels))

    @property
    def max_len(self) -> int:
        return len(self.special) + self.rows * self.columns

    @torch.no_grad()
    def _measured(self) -> tuple[int, int, list[str]]:
        """The rows and columns of patches, and the tokens before them, found by reading a drawn picture.

        Raises FileError where these are not all the tokens, each patch one.
        """
        patch, title = self.folder.config["patch_size"], self.folder.title
        try:
            pixels = self._pixels(drawn_picture(1))
            if self.layout is None:
                n_tokens = self.net(pixel_values=pixels, output_attentions=True).attentions[0].shape[-1]
            else:  # what comes out may be a map, and what attends be windows of it
                trace = Trace(lambda address, x: x.shape[-1] if address.endswith(".self.pattern") else None)
                with Recorder(trace, self.layout).recording():
                    self.net(pixel_values=pixels)
                n_tokens = min(trace[address] for address in trace)
        except Exception as error:  # of any kind, where a processor belongs to another model
            raise FileError(
                f"{title} cannot read what its {PROCESSOR} makes of a picture: {first_line(error)}; open "
                "another model of pictures"
            ) from None
        rows, columns = (size // patch for size in pixels.shape[-2:])
        n_special = n_tokens - rows * columns
        if not 0 <= n_special <= MOST_SPECIAL:
            raise FileError(
                f"{title} makes {n_tokens:,} tokens of {rows} x {columns} patches; "
                "open a ViT, DeiT or DINO model"
            )
        distilled = any(name.endswith("distillation_token") for name, _ in self.net.named_parameters())
        names = ["[CLS]", *(["[DIST]"] * distilled), *(["[REG]"] * MOST_SPECIAL)]
        return rows, columns, names[:n_special]

    def read(self, text: str, **settings: Any) -> Reading:
        name = text.strip()
        if HANDED_IN.fullmatch(name):
            return self._reading(photos.open_picture(_path(name), "the picture"), name)
        if not re.fullmatch("[0-9]{1,4}", name) or not 1 <= int(name) <= len(NAMES):
            raise ValueError(
                f"no picture is named {name[:40]!r}; choose one of the {len(NAMES)} drawn ones, or "
                "hand one in"
            )
        return self._reading(drawn_picture(int(name)), name)

    def read_picture(self, picture: Any) -> Reading:
        """What `trace` takes, of a file's path, a Pillow image or an array [row, column, 3] of bytes.

        Raises ValueError for a file that is no picture, or too large.
        """
        if isinstance(picture, str | Path):
            path = Path(picture).expanduser()
            if not path.is_file():
                raise ValueError(f"{str(picture)[:200]!r} is no file; give the path of a picture")
            picture = photos.open_picture(path, path.name)
        return self._reading(picture)

    def _reading(self, picture: Any, text: str = "") -> Reading:
        pixels = self._pixels(picture)
        if pixels.shape[-2:] != self._shape:
            raise ValueError(
                f"{self.folder.title} makes {pixels.shape[-1]} x {pixels.shape[-2]} pixels of this picture "
                f"and {self._shape[1]} x {self._shape[0]} of a square one; cut it to a square"
            )
        patches = [f"patch {y + 1},{x + 1}" for y in range(self.rows) for x in range(self.columns)]
        return Reading((pixels,), {"encoder": [*self.special, *patches]}, text, self._seen(pixels))

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        return tuple(self._pixels(drawn_picture(1)).shape[-2:])

    def _pixels(self, picture: Any) -> Float[Tensor, "1 channel row column"]:
        """A picture as the network takes it: resized, cut and normalised by the model's own processor."""
        pixels = self.processor(images=picture, return_tensors="pt")["pixel_values"]
        n_channels = getattr(self.net.config, "num_channels", 3)  # BLIP's does not say it
        if pixels.ndim != 4 or pixels.shape[:2] != (1, n_channels):
            raise ValueError(f"it takes [1, {n_channels}, row, column] and gets {list(pixels.shape)}")
        return pixels.to(self.net.device, self.net.dtype)

    def _seen(self, pixels: Tensor) -> Float[Tensor, "row column channel"]:
        """The picture that the network gets, as a person sees it: in 0..1, not normalised."""
        picture, processor = pixels[0].float().cpu().permute(1, 2, 0), self.processor
        if getattr(processor, "do_normalize", False):
            picture = picture * torch.tensor(processor.image_std) + torch.tensor(processor.image_mean)
        if getattr(processor, "do_rescale", False):
            picture = picture / (255 * processor.rescale_factor)
        return picture.clamp(0, 1)

    def pictures(self, reading: Reading, trace: Trace) -> dict[str, Tensor]:
        return {} if reading.picture is None else {"read": reading.picture}

    def places(self) -> Tensor:
        at = torch.arange(self.rows * self.columns) + len(self.special)
        return at.view(self.rows, self.columns)

    def _conclude(self, trace: Trace, output: Any) -> None:
        if self.outputs:
            super()._conclude(trace, output)

    def code(self, text: str, **settings: Any) -> str:
        if not HANDED_IN.fullmatch(text):
            return super().code(text, **settings)
        read_it = f"lm.read_picture('your-picture{Path(text).suffix}')"
        load_it = f"from attention_lab.models import load_model\nlm = load_model({self.name!r})"
        return f"{load_it}\ntrace = lm.trace({read_it})"


def _path(name: str) -> Path:
    """The file of a picture that was handed in; it expires so many days after it was last used."""
    path = next(uploads_root().glob(f"*/{name}"), None)
    if path is None:
        raise ValueError("the picture is no longer here; hand it in again")
    with suppress(OSError):
        os.utime(path)
    return path


def _processor(folder: Folder) -> Any:
    """What prepares pictures for a model. Raises FileError where its description is damaged."""
    description = read_json_if_any(folder.path / PROCESSOR)
    # One number, or by the names of its sides.
    sizes = [description.get(name) for name in ("size", "crop_size")]
    listed = [side for size in sizes for side in (size.values() if isinstance(size, dict) else [size])]
    sides = [side for side in listed if isinstance(side, int | float)]
    if any(not 0 < side <= MOST_SIDE for side in sides):
        raise FileError(
            f"{PROCESSOR} of {folder.title} asks for pictures of {max(sides):,} pixels a side; at most "
            f"{MOST_SIDE:,} are made: open another model"
        )
    try:
        return AutoImageProcessor.from_pretrained(folder.path, local_files_only=True, trust_remote_code=False)
    except ImportError as error:
        needed = re.search(r"requires? the (\w[\w.-]*) library", str(error))
        raise FileError(
            f"{folder.title} prepares pictures with {str(description.get('image_processor_type'))[:60]}, "
            f"which needs {needed[1].lower() if needed else 'a library'}; install it, or open another model"
        ) from None
    except Exception as error:  # processors raise errors of every kind for what a damaged file holds
        raise FileError(
            f"{PROCESSOR} of {folder.title} could not be read: {first_line(error)}; get it again"
        ) from None
