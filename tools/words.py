"""Finds all that people read in the sources, and checks the catalogues of pages/shared/languages against it.

    python -m tools.words                what is missing, stray or wrong; part of `make static`
    python -m tools.words missing de PATHS  the messages of these files that German lacks, as a .po file
    python -m tools.words count          the English words on pages, by folder

A message is a text of several words, or one word where it is said to be one: a label, a title, what `t` is
given in JavaScript. F-strings and templates have {0} where something is filled in, {0:n} where that is a
number. Of words that depend on a number ("channel" and "channels") each form is a message.
"""

import ast
import itertools
import re
import sys
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po, write_po

from attention_lab.pages.shared.words import FOLDER, SLOT, TRANSLATED

ROOT = Path(__file__).resolve().parent.parent
SOURCES = (
    *("pages/**/*.py", "models/**/*.py", "viz_core/**/*.py", "viz_core/viewer/**/*.js", "pages/explore/*.js"),
    *("pages/lab/**/*.toml", "pages/start/walk.toml", "pages/shared/glossary.toml"),
    "viz_core/measures/*.toml",
    *("viz_core/viewer/stage/view.toml", "models/**/words.toml", "models/engine/trace.toml"),
    *("models/runs/recipes.toml", "models/zoo/families.toml", "tools/site.py"),
)
PASSED = re.compile(
    "/vendored/|/live/tokens.js|/browser/picture.js|/grammar/(clauses|pairs|sentences).py|/data/reviews.py|/explore/component.py"
)
LISTS: dict[str, Any] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
ENGLISH: dict[str, str] = LISTS["english"]
OF_WORDS, ALONE, NEVER, OF_BOARDS, CALLS, OF_PLOTLY, UNSEEN, NUMERIC = (
    LISTS[name]
    for name in ("of_words", "alone", "never", "of_boards", "calls", "of_plotly", "unseen", "numeric")
)
_LETTER_WORDS = re.compile(r"[^\W\d_]{2,}")
_SQL = r"\b(?:BEGIN|SELECT|INSERT|UPDATE|DELETE|PRAGMA|TABLE|TEXT|BLOB|REAL)\b"
_CODE = re.compile(
    rf"{_SQL}|^Bearer |=>|\[tabindex|'self'|^- |^python -m|\) /|\$A\b|Secure$|SameSite|^cubic"
    r"|[{}\\]|==|^[.:]|^\(\w+-|\w\(\d|^(?!#)\W*$|;.*:.*;|^--|(\b|\d)px\b|^\w+/|=\"|\(\?:|^\[\"|^, \w+="
    r"|^ *([a-c]|\w{2,})(, \w+)* =( |$)|^ *(from \S+ import|from attention_lab|import |print\(|def |return )"
    r"|^ *if \w+\.|\w\(\)(:|,|$)|(lm|run) = |^globalThis|^export default"
    r"|^(rgba|min|[a-z]+-[a-z]+)\(|^ \S* heads  $"
    r"|^[\w. ]*: (zero|mean|off|uniform|identity|scale -1|only +|set +(renormalised)?)$"
)
"""What reads as code: Python's, that of styles and of databases, and the lines of edits."""
_MARKUP = re.compile(r"</?(?:h\d|[pbai]|div|span|d[tdl]|br|[uo]l|li|t[dhr]|small|strong|em|nav)\b[^<>]*>")


def is_prose(text: str) -> bool:
    """Whether a text of the sources may be several words that people read."""
    said = SLOT.sub(" ", text)
    return " " in text.strip() and bool(_LETTER_WORDS.search(said)) and not _CODE.search(said)


def is_word(text: str) -> bool:
    """Whether a text is one word, where a word is expected."""
    said = SLOT.sub("", text)
    is_code = re.search(r"[\\{}/%]|^[a-z]+[._]|^[A-Z]{4,}$|^[<|]\w\d$|^[.,~]|[a-z]2$", said)
    return bool(re.search(r"[^\W\d_]", said)) and not is_code


def messages(text: str, is_label: bool = False) -> Iterator[str]:
    """The messages of one text: its lines, and what stands between tags."""
    for line in (piece for part in _MARKUP.split(text) for piece in part.split("\n")):
        line = numbered(" ".join(line.split()))
        if line in NEVER:
            continue
        named = is_label and re.search(r"[^\W\d_]", SLOT.sub("", line)) and " " in line
        if named or (is_word(line) if is_label else is_prose(line)):
            yield line


def numbered(text: str) -> str:
    """A text whose slots are counted from 0."""
    count = itertools.count()
    return SLOT.sub(lambda slot: f"{{{next(count)}{slot[2] or ''}}}", text)


# Python


def in_python(code: str) -> Iterator[str]:
    tree = ast.parse(code)
    inner: set[ast.AST] = set()
    labels: set[ast.AST] = set()
    for node in ast.walk(tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            for line in block if isinstance(block, list) else ():
                if isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant):
                    inner.add(line.value)  # a docstring
        match node:
            case ast.ClassDef(body=[ast.Expr(ast.Constant(str(text))), *rest]) if "title" in _assigned(rest):
                yield from messages(text.split("\n\n")[0].replace("\n", " "))  # what Train says of a task
            case ast.JoinedStr(values):
                specs = [value.format_spec for value in values if isinstance(value, ast.FormattedValue)]
                inner.update(values, *(ast.walk(spec) for spec in specs if spec))
            case ast.Subscript(slice=index):
                inner.update(ast.walk(index))
            case ast.Call(ast.Attribute(words, "split")) | ast.Call(ast.Name("_words"), [words]):
                inner.add(words)
            case ast.Call(func, args, keywords):
                inner.update(word.value for word in keywords if word.arg in OF_PLOTLY)
                name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
                if name in UNSEEN:
                    inner.update(ast.walk(node))
                labels.update(word.value for word in keywords if word.arg in OF_WORDS)
                labels.update(args[:1] if name in CALLS else ())
                labels.update(args[2:3] if name in ("setting", "Setting", "Field") else ())
                labels.update(args if name in OF_BOARDS else ())
                inner.update(args[2:] if name in ("check_axes", "check_frames") else ())
            case ast.AnnAssign(
                ast.Name(name), _, ast.Call(ast.Name("option" | "setting" as kind), args, keywords)
            ):
                named = {word.arg for word in keywords} | ({"label"} if len(args) > 2 else set())
                is_said = kind == "option" or "help" in named
                if is_said and "label" not in named and not name.startswith("d_"):
                    # as pages.shared.training.settings.label_of does
                    yield name.replace("_", " ").capitalize()
            case ast.Dict(keys, values):
                pairs = list(zip(keys, values, strict=True))
                labels.update(v for key, v in pairs if isinstance(v, ast.Constant) and not is_header(key))
                inner.update(v for key, v in pairs if getattr(key, "value", "") in OF_PLOTLY)
    for node in ast.walk(tree):
        if node not in inner and isinstance(node, ast.Constant | ast.JoinedStr):
            for text in texts_of(node):
                yield from messages(text, node in labels)


def is_header(key: ast.expr | None) -> bool:
    """Whether a key is the name of a header of HTTP, such as Cache-Control."""
    return isinstance(key, ast.Constant) and bool(
        re.fullmatch("(?:[A-Z][a-z]+-)+[A-Z][a-z]+", str(key.value))
    )


def _assigned(body: Iterable[ast.stmt]) -> set[str]:
    targets = (target for line in body if isinstance(line, ast.Assign) for target in line.targets)
    return {target.id for target in targets if isinstance(target, ast.Name)}


def texts_of(node: ast.AST) -> list[str]:
    """What an expression of text may say, with slots: a choice between texts is each of them."""
    match node:
        case ast.Constant(str(text)):
            return [re.sub(r"\{[^{}]*\}", "{0}", text)]
        case ast.JoinedStr(parts):
            choices = [texts_of(part) for part in parts]
            if len(choices) and len(list(itertools.islice(itertools.product(*choices), 17))) > 16:
                choices = [texts if len(texts) < 2 else ["{0}"] for texts in choices]
            return ["".join(pieces) for pieces in itertools.product(*choices)]
        case ast.FormattedValue(ast.IfExp(body=one, orelse=other)):
            return texts_of_choice(one) + texts_of_choice(other)
        case ast.FormattedValue(ast.BinOp(ast.Constant(str(text)), ast.Mult())):
            return ["", text]
        case ast.FormattedValue(value, _, spec):
            written = ast.unparse(spec)[2:-1] if spec else ""
            name = getattr(getattr(value, "func", None), "id", "")
            return ["{0:n}" if name in NUMERIC or re.search("[dfgeE%,]$|short", written) else "{0}"]
    return []


def texts_of_choice(node: ast.AST) -> list[str]:
    if isinstance(node, ast.IfExp):
        return texts_of_choice(node.body) + texts_of_choice(node.orelse)
    return texts_of(node) if isinstance(node, ast.Constant | ast.JoinedStr) else ["{0}"]


# TOML


def in_toml(code: str) -> Iterator[str]:
    content = tomllib.loads(code)
    is_glossary = all(isinstance(value, str) for value in content.values())

    def walk(name: str, value: object) -> Iterator[str]:
        if isinstance(value, dict):
            for key, each in value.items():
                if name == "tries" or is_glossary:
                    yield from messages(key, True)
                if name != "shapes":  # the names of axes are those of the code
                    yield from walk(name if name == "options" else key, each)
        elif isinstance(value, list):
            for each in value:
                yield from walk(name, each)
        elif isinstance(value, str) and name not in ("formula", "tries", "set", "code", "text", "main"):
            yield from messages(" ".join(slots(value).split()), name in OF_WORDS or name == "options")

    yield from walk("", content)


def slots(text: str) -> str:
    """{lost:short} as {0:n}."""
    return re.sub(r"\{[a-z_0-9\[\].-]+(:[^{}]*)?\}", lambda found: "{0:n}" if found[1] else "{0}", text)


# JavaScript

_TOKEN = re.compile(
    r"""(?P<skip>\s+|//[^\n]*|/\*.*?\*/)|(?P<string>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(?P<tick>`)"""
    r"""|(?P<word>[\w$.]+)|(?P<regex>(?:(?<=[(,=:\[!&|?{};])|(?<=[(,=:\[!&|?{};]\s))/(?![/*])(?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*)"""
    r"""|(?P<sign>.)""",
    re.DOTALL,
)
_NO_WORDS = re.compile(
    r"(\b(class|style|font|[xy]ref|hovermode):[^,;}]*|\b(querySelector(All)?|findAll|linksOf|closest|matches|region)\(|from|import)$"
)
"""What stands before a text that is none of ours to read."""


def in_javascript(code: str) -> Iterator[str]:
    texts: list[tuple[str, str]] = []
    _scan(code, 0, texts, "")
    for before, text in texts:
        if not _NO_WORDS.search(before) and not re.search(r"^[a-z-]+ \{0\}$|[<>]", text):
            yield from messages(text, bool(re.search(r"\bt\($|(label|title|text|name|caption):$", before)))


def _scan(code: str, at: int, texts: list[tuple[str, str]], until: str) -> int:
    """Notes each text with what stands before it, up to a closing brace that is not opened here; texts with
    a plus between are one.
    """
    before, depth = "", 0
    while at < len(code):
        token = _TOKEN.match(code, at)
        assert token
        kind, said, at = token.lastgroup, token[0], token.end()
        if kind == "skip":
            continue
        goes_on = before[-2:] in ('"+', "'+", "`+")
        start = texts.pop() if goes_on and kind in ("string", "tick") else (before, "")
        if kind == "string":
            texts.append((start[0], start[1] + re.sub(r"\\(.)", r"\1", said[1:-1])))
        elif kind == "tick":
            at = _template(code, at, texts, start)
        elif kind == "sign":
            depth += (said == "{") - (said == "}")
            if said == until and depth < 0:
                return at
        before = (before + said)[-40:]
    return at


def _template(code: str, at: int, texts: list[tuple[str, str]], start: tuple[str, str]) -> int:
    before, text = start
    while code[at] != "`":
        if code.startswith("${", at):
            at = _scan(code, at + 2, texts, "}")
            text += "{0}"
        else:
            text += code[at : at + 1 + (code[at] == "\\")]
            at += 1 + (code[at] == "\\")
    texts.append((before, text))
    return at + 1


# All of them, and the catalogues

READERS = {".py": in_python, ".toml": in_toml, ".js": in_javascript}


def sources(patterns: Iterable[str] = SOURCES) -> list[Path]:
    files = {file for pattern in patterns for file in ROOT.glob(pattern) if not PASSED.search(str(file))}
    return sorted(file for file in files if file.suffix in READERS)


def found_in(files: Iterable[Path]) -> dict[str, list[str]]:
    """The messages of these files, each with the files where it stands."""
    found: dict[str, list[str]] = {word: ["tools/words.py"] for word in ALONE}
    for file in files:
        for message in dict.fromkeys(READERS[file.suffix](file.read_text("utf-8"))):
            found.setdefault(message, []).append(str(file.relative_to(ROOT)))
    return found


def read(language: str) -> Catalog:
    with (FOLDER / f"{language}.po").open("rb") as file:
        return read_po(file, locale=language)


def problems() -> Iterator[str]:
    everything = found_in(sources())
    english = {str(file.relative_to(ROOT)) for file in sources(ENGLISH)}
    for language in TRANSLATED:
        entries = {str(entry.id): entry for entry in read(language) if entry.id}
        for message in everything.keys() - entries.keys():
            if places := {*everything[message]} - english:
                yield f"{language} lacks {message!r} of {', '.join(places)}"
        for message, entry in entries.items():
            if message not in everything:
                yield f"{language}: {message!r} stands nowhere any more"
            if entry.fuzzy or not entry.string:
                yield f"{language}: {message!r} is not translated for certain"
            if not {*re.findall(r"{\w*", str(entry.string))} <= {*re.findall(r"{\w*", message)}:
                yield f"{language}: {entry.string!r} has slots that {message!r} has not"


def count() -> Counter[str]:
    """English words of all translated messages, by the folder where each stands first."""
    words: Counter[str] = Counter()
    for entry in read("de"):
        place = entry.locations[0][0] if entry.id and entry.locations else "."
        words["/".join(place.split("/")[:2])] += len(_LETTER_WORDS.findall(SLOT.sub(" ", str(entry.id))))
    return words


def main() -> None:
    match sys.argv[1:]:
        case ["count"]:
            for folder, words in count().most_common():
                print(f"{words:6,}  {folder}")
            print(f"{count().total():6,}  in all")
        case ["missing", language, *paths]:
            known = {str(entry.id) for entry in read(language) if entry.id}
            catalog = Catalog(language)
            for message, places in found_in(sources(paths)).items():
                if message not in known:
                    catalog.add(message, locations=[(place, 0) for place in places])
            buffer = BytesIO()
            write_po(buffer, catalog, omit_header=True, include_lineno=False, width=110)
            print(buffer.getvalue().decode())
        case _:
            if said := list(problems()):
                sys.exit("\n".join(said))


if __name__ == "__main__":
    main()
