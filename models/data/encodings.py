"""In which encoding a text was saved: as its mark says, as UTF-8, as a person says, or else as detected.

Detection is charset-normalizer's, over the encodings that are offered here. What is detected is said, and
what is no more than a guess is said to be one.
"""

import codecs
import re
from collections.abc import Iterator
from dataclasses import dataclass

from charset_normalizer import CharsetMatch, from_bytes

AUTO = "auto"
TITLES = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "cp1252": "Windows-1252 (Western Europe)",
    "iso-8859-15": "ISO-8859-15 (Western Europe)",
    "latin-1": "ISO-8859-1 (Western Europe)",
    "cp1250": "Windows-1250 (Central Europe)",
    "iso-8859-2": "ISO-8859-2 (Central Europe)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8-r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1255": "Windows-1255 (Hebrew)",
    "cp1256": "Windows-1256 (Arabic)",
    "cp1257": "Windows-1257 (Baltic)",
    "mac-roman": "Mac Roman",
    "cp850": "DOS 850 (Western Europe)",
    "cp932": "Shift JIS (Japanese)",
    "euc-jp": "EUC-JP (Japanese)",
    "gb18030": "GB 18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp949": "EUC-KR (Korean)",
}
"""What each encoding is called, by its name in Python."""
CHOICES = (AUTO, *TITLES)

_MARKS = (  # a byte order mark says what the text is; that of UTF-32 begins like that of UTF-16
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_DETECTED = [name for name in TITLES if name not in ("utf-8", "utf-16", "latin-1", "iso-8859-15")]
_LOOKED_AT = 1 << 16  # bytes, of lines that are not ASCII
_USUAL = {"cp1252": 0.05, "cp1257": -0.1}  # what is common needs less evidence than what is rare
_LIKE, _SURE = 0.02, 0.08  # differences of `_likeness`
_NOT_ASCII_LINE = re.compile(rb"[^\n]{0,400}[\x80-\xff][^\n]{0,400}\n?")
_NOT_ASCII_WORD = re.compile(r"\w{0,12}[^\x00-\x7f]\w{0,12}")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0e-\x1a\x1c-\x1f\x7f-\x84\x86-\x9f]")  # neither blanks nor line ends
_TWICE = re.compile(r"[\u00c2\u00c3][\u0080-\u00bf]|\u00e2\u20ac[\u0153\u2122\u00a6\u201c\u009d]")


@dataclass(frozen=True)
class Encoding:
    """How a text's bytes were read.

    codec: Python's name, to read the file alike once more. how: "said" by a person, by the file's "mark",
    "plain" UTF-8, "detected", or a "guess" where another encoding is as likely. doubt: a sentence about what
    may be wrong with it; "" where nothing is.
    """

    codec: str
    how: str
    doubt: str = ""

    @property
    def title(self) -> str:
        """What people call it."""
        plain = self.codec.removesuffix("-sig").removesuffix("-le").removesuffix("-be")
        return TITLES.get(plain, plain.upper())

    def __str__(self) -> str:
        ways = {"said": ", as chosen", "mark": ", by its mark", "detected": ", as detected"}
        return f"{self.title}{', which is a guess' if self.how == 'guess' else ways.get(self.how, '')}"


def decoded(raw: bytes, name: str, encoding: str = AUTO) -> tuple[str, Encoding]:
    """The text of some bytes. encoding: one of `CHOICES`, or a codec that an earlier call returned.

    Raises ValueError, with value, rule and remedy, for bytes that are no text in it, or in any that is known
    here. name: of the file, for the sentence.
    """
    mark = next((codec for begin, codec in _MARKS if raw.startswith(begin)), "")
    if encoding != AUTO:
        return _as_said(raw, name, encoding, mark)
    if mark or not (codec := _unmarked_utf16(raw)):
        codec = mark or "utf-8"
    try:
        text = raw.decode(codec)
    except UnicodeDecodeError as error:
        if codec != "utf-8":
            raise ValueError(
                f"{name!r} begins with the mark of {codec.upper()}, and byte {error.start:,} does not fit "
                "it; save it again as UTF-8"
            ) from None
        text, found = _detected(raw, name, error.start)
    else:
        found = Encoding(codec, "mark" if mark else "plain" if codec == "utf-8" else "detected", _odd(text))
    if "\0" in text:
        raise ValueError(f"{name!r} holds zero bytes, as no text does; choose a text file, in UTF-8")
    return text, found


def _as_said(raw: bytes, name: str, encoding: str, mark: str) -> tuple[str, Encoding]:
    if mark and not mark.startswith(encoding.removesuffix("-sig")):
        raise ValueError(
            f"{name!r} begins with the mark of {mark.removesuffix('-sig').upper()}, but encoding={encoding}; "
            f"choose {AUTO}"
        )
    codec = mark or encoding
    try:
        text = raw.decode(codec)
    except LookupError:
        raise ValueError(f"encoding={encoding!r} is unknown; choose one of {', '.join(CHOICES)}") from None
    except UnicodeDecodeError as error:
        title = Encoding(codec, "said").title
        raise ValueError(
            f"{name!r} is no text in {title}: byte {error.start:,} does not fit; choose another encoding, "
            f"or {AUTO}"
        ) from None
    if "\0" in text:
        raise ValueError(f"{name!r} holds zero bytes in {encoding}, as no text does; choose {AUTO}")
    return text, Encoding(codec, "said", _odd(text))


def _unmarked_utf16(raw: bytes) -> str:
    """The codec of a text in UTF-16 without a mark: of letters of ASCII, every other byte is zero."""
    part = raw[:4_096]
    even, odd = (part[at::2].count(0) / max(1, len(part) // 2) for at in (0, 1))
    if len(raw) % 2 == 0 and max(even, odd) > 0.3 and min(even, odd) < 0.05:
        return "utf-16-le" if odd > even else "utf-16-be"
    return ""


def _detected(raw: bytes, name: str, wrong: int) -> tuple[str, Encoding]:
    """The text in the likeliest encoding; where several are about as likely, in the first of `TITLES`."""
    sample = _sample(raw)
    found = from_bytes(sample, cp_isolation=_DETECTED, threshold=1.0)
    likeness = {codec: value for match in found for codec, value in _codecs(match)}
    weighed = {codec: value + _USUAL.get(codec, 0.0) for codec, value in likeness.items()}
    best = max(weighed.values(), default=0.0)
    near = [codec for codec in _DETECTED if weighed.get(codec, -9.0) >= best - _LIKE]
    near += [codec for codec in sorted(weighed, key=weighed.__getitem__, reverse=True) if codec not in near]
    for codec in near:
        try:
            text = raw.decode(codec)
        except UnicodeDecodeError:
            continue
        if _CONTROL.search(text):
            continue
        others = [
            other for other in near if other != codec and likeness[other] >= likeness[codec] - _SURE
        ]  # fmt: skip
        return text, _said_to_be(codec, others, sample)
    raise ValueError(
        f"{name!r} is no text in UTF-8 (byte {wrong:,} does not fit) or in another encoding that is known "
        "here; save it as UTF-8"
    )


def _codecs(match: CharsetMatch) -> Iterator[tuple[str, float]]:
    """A match and those that give the same text, each with its likeness to some language."""
    names = {codecs.lookup(name).name: name for name in _DETECTED}
    for each in (match, *match.submatch):
        if known := names.get(codecs.lookup(each.encoding).name):
            yield known, match.coherence - 2 * match.chaos


def _said_to_be(codec: str, others: list[str], sample: bytes) -> Encoding:
    """What was detected; a guess where another encoding gives another text that is about as likely."""
    own = sample.decode(codec, errors="replace")
    words = _NOT_ASCII_WORD.findall(own)
    for other in others:
        different = sample.decode(other, errors="replace")
        if different == own:
            continue
        read = next((word for word in words if word not in different), words[0] if words else "")
        start = own.find(read)
        instead = different[start : start + len(read)]
        title = Encoding(other, "detected").title
        doubt = f"It reads “{read}”; {title} would read “{instead}”. If that is right, choose it as encoding."
        return Encoding(codec, "guess", doubt)
    return Encoding(codec, "detected", _odd(own))


def _sample(raw: bytes) -> bytes:
    """Lines that are not ASCII: the others fit nearly every encoding."""
    found, size = [], 0
    for line in _NOT_ASCII_LINE.finditer(raw):
        found.append(line.group())
        size += len(found[-1])
        if size >= _LOOKED_AT:
            break
    return b"".join(found)


def _odd(text: str) -> str:
    """A sentence about what a text shows of an encoding that was wrong before it came here."""
    lost = text.count("\N{REPLACEMENT CHARACTER}")
    if lost:
        return (
            f"{lost:,} letters were lost before (�): the program that saved it took it for another encoding."
        )
    found = _TWICE.search(text)
    if found:
        return (
            f"It holds “{found.group()}”, as a text does that was once read in a wrong encoding and saved; "
            "save it again from its source."
        )
    return ""
