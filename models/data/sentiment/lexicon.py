"""What reviews are made of: things to judge, words that judge, and the clauses and sentences around them."""

from typing import NamedTuple


class Thing(NamedTuple):
    """What is judged, with "the". `verb`: was or were; `countable`: takes a or an."""

    text: str
    verb: str = "was"
    countable: bool = False

    @property
    def noun(self) -> str:
        return self.text.removeprefix("the ")


class Opinion(NamedTuple):
    """A word that judges; a verb has two forms, as in "i loved it" and "i did not love it"."""

    text: str
    positive: bool
    base: str = ""


_COUNTABLE = "plot story ending script cast hero villain soundtrack title opening finale chase romance"
_MASS = "acting music dialogue humour lighting photography pacing"
_PLURAL = "costumes jokes songs effects dances pictures colours"
THINGS = (
    *(Thing(f"the {noun}", countable=True) for noun in _COUNTABLE.split()),
    *(Thing(f"the {noun}") for noun in _MASS.split()),
    *(Thing(f"the {noun}", "were") for noun in _PLURAL.split()),
)
_GOOD = (
    "superb brilliant good great wonderful funny charming gripping moving clever fresh excellent beautiful "
    "witty elegant touching convincing memorable delightful fascinating impressive vivid lively lovely"
)
_BAD = (
    "dull boring bad terrible awful weak tedious clumsy predictable shallow stale poor slow silly flat "
    "dreadful messy forgettable annoying pointless bland lifeless confusing painful"
)
_LIKED = "loved love, enjoyed enjoy, liked like, admired admire, adored adore, praised praise"
_LOATHED = "hated hate, disliked dislike, despised despise, detested detest, regretted regret, loathed loathe"
ADJECTIVES = (
    *(Opinion(word, True) for word in _GOOD.split()),
    *(Opinion(word, False) for word in _BAD.split()),
)
VERBS = (
    *(Opinion(past, True, base) for past, base in map(str.split, _LIKED.split(","))),
    *(Opinion(past, False, base) for past, base in map(str.split, _LOATHED.split(","))),
)

# Slots: {thing} with "the", {noun} without; {was} or were; {a} or an, or nothing; {word} that judges; {base}
# of a verb; {very} in its many ways. A clause that negates turns the word's judgement round, near or far.
STATES = (
    "{thing} {was} {very} {word}",
    "{thing} {was} {very} {word}",
    "i found {thing} {very} {word}",
    "i think that {thing} {was} {word}",
    "it had {a} {word} {noun}",
    "everybody called {thing} {word}",
)
NEGATED_STATES = (
    "{thing} {was} not {word}",
    "{thing} {was} not at all {word}",
    "{thing} {was}n't {word}",
    "{thing} {was} never {word}",
    "{thing} {was} hardly {word}",
    "{thing} {was} far from {word}",
    "{thing} {was} anything but {word}",
    "i did not find {thing} {word}",
    "i do not think that {thing} {was} {word}",
    "it did not have {a} {word} {noun}",
    "nobody called {thing} {word}",
)
ACTIONS = ("i {very} {word} {thing}", "we all {word} {thing}", "my sister {word} {thing}")
NEGATED_ACTIONS = (
    "i did not {base} {thing}",
    "i didn't {base} {thing}",
    "i never {word} {thing}",
    "i could not {base} {thing}",
    "nobody {word} {thing}",
)
VERY = ("", "", "very", "really", "truly", "absolutely", "so", "quite")
VERY_MUCH = ("", "", "really", "truly", "absolutely", "quite")  # those that a verb can have

# Two clauses: {chief} decides, {other} says the opposite, {same} agrees.
AGREEING = ("{chief} and {same}", "{same} and {chief}")
CONTRASTING = (
    "{other} but {chief}",
    "{other} , but {chief}",
    "{other} . however , {chief}",
    "although {other} , {chief}",
    "even though {other} , {chief}",
    "{chief} , although {other}",
    "{chief} even though {other}",
)
# Sentences that judge nothing, before or after.
NEUTRAL = ("i saw it {when} {where} .", "we watched it {when} {where} .", "i was there {when} {where} .")
WHEN = ("", "yesterday", "on monday", "on sunday", "last week", "at night", "in winter", "for two hours")
WHERE = ("", "at home", "in paris", "in a small cinema", "with my brother", "with the children", "on a train")
