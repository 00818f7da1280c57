"""Pictures to learn from: where they come from, and how a transformer reads them, part by part."""

from models.data.pictures.parts import Parts
from models.data.pictures.sets import PictureSet, digits, forget, idx

__all__ = ["Parts", "PictureSet", "digits", "forget", "idx"]
