"""Rules of work sheets: odd input is refused with a remedy, and each kind agrees with a plain computation."""

import pytest

from attention_lab.models import load_model
from attention_lab.pages.sheets.rules import Link, read_rules

TIRED = "the animal did not cross the street because it was too tired"
WIDE = TIRED.replace("tired", "wide")


def explore(text: str = TIRED, **more: str) -> Link:
    return Link("", (("text", text), *more.items()))


def missing(line: str, link: Link, task: str | None = None) -> str:
    """What a link lacks of a task that opens another, or the same."""
    rules = read_rules(line.splitlines(), link if task is None else Link.read(task))
    sentences = [rule.missing(link) for rule in rules]
    return next(filter(None, sentences), "")


@pytest.mark.parametrize(
    ("line", "task", "words"),
    [
        (
            "",
            "masks",
            "'' is no rule of at most 500 characters; write n >= 4, output contains elle, or open.",
        ),
        ("link: part = reach", "masks", "'link: part' is no input of the part mask of Masks"),
        ("part late", "masks", "'part late' is no rule"),
        (f'part = reach{" " * 30_000}"', "masks", "(30,015 characters) is no rule of at most 500 characters"),
        ("text = " + "a" * 494, "?", "is no rule of at most 500 characters"),
        ("part = ", "masks", "part: '' is not one of mask, reach"),
        ("prt = reach", "masks", "'prt' is no input of the part mask of Masks; did you mean part"),
        ("part = nowhere", "masks", "part: 'nowhere' is not one of"),
        ("part > reach", "masks", "part is no number; write part = reach"),
        ("layers < many", "masks?part=reach", "'many' is not a whole number"),
        ("n = 4", "train", "'train' is no page that rules can be about"),
        ('text = "a, b', "?", "is no rule"),
        ("output = elle", "?", "write contains or lacks"),
        ("output contains elle", "masks", "output is of a model that Explore opens"),
        ("encoder.1.self.pattern", "?", "is no rule"),
        ("encoder.1.self.pattern head=0 query=it key=it > many", "?", "'many' is no number"),
        ("encoder.1.self.patern head=0 > 1", "?", "is nothing that a trace has; did you mean encoder"),
        ("encoder.1.self.pattern head=0 query=it > 1", "?", "needs one key; add such as key=0"),
        ("encoder.1.self.pattern head=0 query=it key=it row=1 > 1", "?", "has no axis row"),
        ("open.pattern query=it key=animal > 0.5", "softmax", "open.pattern is of a model"),
        ("logits query=0 vocab=elle contains 1", "?", "a number is compared with <, <=, =, !=, >= or >"),
        ("__import__.os > 0", "?", "is nothing that a trace has"),
        ("__import__ > 0", "?", "is no input of Explore"),
        ("open.pattern query=it key=animal > nan", "?", "'nan' is no number"),
    ],
)
def test_a_rule_that_is_none_says_the_remedy(line: str, task: str, words: str) -> None:
    with pytest.raises(ValueError) as refused:
        [*read_rules([line], Link.read(task))]
    assert words in str(refused.value)


def test_links_are_compared_with_defaults_and_stories() -> None:
    masks = Link.read("masks?part=reach")
    assert missing("part = reach, flow = causal+window", masks, "masks") == ""
    assert missing("part = reach\nlayers >= 2, flow != causal", masks, "masks") == ""
    with pytest.raises(ValueError, match="Masks has no n now: choose the task's own"):
        missing("n = 4", masks, "masks")
    assert "not asked for" in missing("part = reach", Link.read("masks"), "masks")
    story = explore()  # opens on layer 1, head 3, as its card says
    assert missing("layer = 1, head = 3, view = lines", story) == ""
    assert missing("head < 3", story) == "Head is 3; less than 3 is asked for."
    assert missing("head != 3", story) == "Head is 3, which is not asked for."
    assert missing('text contains "animal", text lacks wide', story) == ""
    assert "does not have “anim”" in missing("text contains anim", story)
    assert missing('text = "a, b"', explore("a, b")) == ""


def test_a_number_is_that_of_the_trace() -> None:
    model = load_model("translator")
    for text in (TIRED, WIDE):
        trace = model.trace(text)
        tokens = trace.tokens["encoder"]
        it, animal = map(tokens.index, ("it", "animal"))
        for layer in (0, 1):
            for head in (0, 3):
                weight = float(trace[f"encoder.{layer}.self.pattern"][head, it, animal])
                where = f"encoder.{layer}.self.pattern head={head} query=it"
                opened = explore(text, layer=str(layer), head=str(head))
                for line, number in (
                    (f"{where} key=animal", weight),
                    (f"{where} key={animal}", weight),
                    ('open.pattern query="it" key=animal', weight),
                ):
                    assert missing(f"{line} > {number - 1e-4}", opened) == ""
                    sentence = missing(f"{line} > {number + 1e-4}", opened)
                    assert sentence.startswith(f"The number there is {number:.3g}; more than"), sentence
        cross = float(trace["decoder.1.cross.pattern"][2, 3, animal])
        where = f"decoder.1.cross.pattern head=2 query=3 key=animal <= {cross + 1e-5}"
        assert missing(where, explore(text)) == ""
        logit = float(trace["logits"][-1, model.outputs.index("elle")])
        at = len(trace.tokens["decoder"]) - 1
        assert missing(f"logits query={at} vocab=elle < {logit + 1e-3}", explore(text)) == ""
    induction = load_model("induction")
    letters = induction.trace("abcab")
    logit = float(letters["logits"][2, induction.outputs.index("a")])  # a model without an encoder
    link = explore("abcab", model="induction")
    assert missing(f"logits query=c vocab=a >= {logit - 1e-3}", link) == ""


@pytest.mark.parametrize(
    "changed",
    [
        {"edits": "encoder.1.self heads 0: zero"},
        {"text": WIDE},
        {"target": "il elle"},
        {"model": "translator-plain"},
    ],
)
def test_a_number_is_that_of_the_task_but_for_what_its_rules_name(changed: dict[str, str]) -> None:
    number = "open.pattern query=it key=animal > 2"
    link, (name,) = explore(**{"text": TIRED, **changed}), changed
    for task in ("?", "?layer=0"):
        with pytest.raises(ValueError, match="This task needs its own model, text, settings"):
            missing(number, link, task)
    named = f"{name} lacks zebra\n{number}"
    assert missing(named, link, "?").startswith("The number there is")
    assert missing(number, link).startswith("The number there is")  # as the task itself opens


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(ValueError, match="The task does not ask about a “bus”"):
        missing("open.pattern query=it key=bus > 0", explore())
    with pytest.raises(ValueError, match="There is no key 99: there are 14 now"):
        missing("open.pattern query=it key=99 > 0", explore())
    with pytest.raises(ValueError, match=r"This model has no encoder\.7\.self\.pattern"):
        missing("encoder.7.self.pattern head=0 query=0 key=0 > 0", explore())
    with pytest.raises(ValueError, match="is no model that comes with the app"):
        missing("output contains elle", explore(model="run:20261126-120000-abcdef"))


def test_what_is_written_is_the_models_own_answer() -> None:
    assert missing("output contains il, output lacks elle", explore()) == ""
    assert missing("output contains elle", explore(WIDE)) == ""
    sentence = missing("output contains elle", explore())
    assert sentence.startswith("What the model writes does not have “elle”: “l'animal n'a pas")
    edited = explore(edits="encoder.1.self heads 0-3: zero")
    model = load_model("translator")
    answer = model.answer(TIRED, edits="encoder.1.self heads 0-3: zero").answer
    assert (missing("output contains il", edited) == "") == (" il " in answer.replace("'", " "))
    forced = explore(target="l'animal n'a pas traversé la rue parce qu'elle était trop large")
    assert missing("output contains elle", forced) != ""  # typed by a person, not written by the model
