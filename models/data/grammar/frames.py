"""Who does what to what, and which adjective tells the doer from the thing: the meaning behind every pronoun.

In "the S did not V the O because it was too ADJ" only ADJ decides what "it" is. `subject_adjectives` fit the
subject of the frame alone, `object_adjectives` the object alone. In some frames both nouns are of one kind
(chase) or of any kind (fit): there the part they play decides, not the noun.
"""

from dataclasses import dataclass
from typing import Literal

from models.data.grammar.adjectives import ADJECTIVES
from models.data.grammar.lexemes import Adjective, Noun, Verb
from models.data.grammar.nouns import NOUNS
from models.data.grammar.verbs import VERBS

Mood = Literal["refusal", "event", "purpose"]
"""refusal: did not ... because ...; event: did ... because ...; purpose: for S, so that it would be ..."""


@dataclass(frozen=True)
class Frame:
    mood: Mood
    verbs: tuple[Verb, ...]
    subjects: tuple[Noun, ...]
    objects: tuple[Noun, ...]
    subject_adjectives: tuple[Adjective, ...]
    object_adjectives: tuple[Adjective, ...]


def nouns_of(kinds: str) -> tuple[Noun, ...]:
    """All nouns that have one of the kinds, in the order of the lexicon."""
    return tuple(noun for noun in NOUNS.values() if noun.kinds & set(kinds.split()))


def adjectives_of(words: str) -> tuple[Adjective, ...]:
    return tuple(ADJECTIVES[word] for word in words.split())


def _frames(table: str) -> tuple[Frame, ...]:
    frames = []
    for line in table.strip().splitlines():
        mood, verbs, subjects, objects, subject_adjectives, object_adjectives = line.split("|")
        frames.append(
            Frame(
                mood.strip(),  # type: ignore[arg-type]  # the table below is the only caller
                tuple(VERBS[verb] for verb in verbs.split()),
                nouns_of(subjects),
                nouns_of(objects),
                adjectives_of(subject_adjectives),
                adjectives_of(object_adjectives),
            )
        )
    return tuple(frames)


FRAMES = _frames("""
refusal | cross | animal | path | tired hungry scared ill young nervous | wide noisy dangerous slippery dark
refusal | cross | person | path | tired ill scared nervous busy | wide noisy dangerous slippery dark
refusal | cross | animal person | water | tired ill scared weak young | wide deep cold dangerous
refusal | cross explore | animal person | land | tired ill lazy young nervous | vast muddy dangerous damp
refusal | take | vehicle | path | heavy slow old | narrow slippery steep dangerous
refusal | eat taste | animal | food | ill sad tired scared | salty bitter dry hard hot sweet spicy rotten
refusal | eat taste finish | person | food | ill nervous sad tired busy | salty bitter dry hard sweet cold
refusal | enter | animal person | building | scared shy nervous suspicious | dark cold damp noisy narrow dirty
refusal | climb | climber person | height | tired weak lazy old young | high slippery smooth dangerous steep
refusal | carry lift push | beast | load | weak tired lazy young ill | heavy fragile dirty
refusal | carry lift push | person | load bulky | weak tired lazy busy | heavy fragile dirty
refusal | chase catch | hunter | prey | tired slow lazy ill | fast agile clever
refusal | fit | bulky | holder | big wide long high | small narrow full
refusal | read translate finish | person | text | tired busy lazy impatient | long difficult boring
refusal | buy | person | good | poor careful stingy | expensive ugly small
refusal | repair | person | machine | tired busy lazy clumsy | complicated expensive dirty
refusal | open | climber person | opening | weak lazy scared careful | heavy solid dirty hard
event | watch | hunter | prey | curious hungry suspicious | beautiful strange noisy
event | break | breaker | breakable | heavy hard big | fragile thin
event | sell | person | vehicle | poor stingy clever | slow dirty noisy
event | eat finish | animal person | food | hungry | good sweet hot
purpose | wash clean prepare | pet | gear | happy calm | clean dry
purpose | repair prepare | pet | gear | happy calm | solid clean
purpose | prepare buy | person | food | happy calm strong | hot sweet good
""")

REFUSALS = tuple(frame for frame in FRAMES if frame.mood == "refusal")
EVENTS = tuple(frame for frame in FRAMES if frame.mood == "event")
PURPOSES = tuple(frame for frame in FRAMES if frame.mood == "purpose")
