"""The words of the grammar, English and French side by side, and who can do what to what.

A line of a table reads `english | french | ...`; a second word is an irregular plural (nouns) or feminine
(adjectives). Kinds say what a noun can do in a sentence: who eats, what can be crossed, what fits into what.
"""

from dataclasses import dataclass
from typing import Literal

# Lexemes, and how their tables are read: English and French side by side, each word with one translation.
# A line reads `english | french | ...`; a second word is an irregular plural (nouns) or feminine
# (adjectives). Kinds say what a noun can do in a sentence (`frames.py`): who eats, what can be crossed,
# what fits into what.


@dataclass(frozen=True)
class Noun:
    """One noun in both languages; `gender` is the French one, "m" or "f"."""

    english: str
    english_plural: str
    french: str
    french_plural: str
    gender: str
    kinds: frozenset[str]

    @property
    def is_person(self) -> bool:
        return "person" in self.kinds


@dataclass(frozen=True)
class Adjective:
    """`before`: it precedes the French noun. `euphonic`: masculine before a vowel (bel, vieil, nouvel)."""

    english: str
    masculine: str
    feminine: str
    before: bool = False
    euphonic: str | None = None


@dataclass(frozen=True)
class Verb:
    """`present`: French je, il, nous, vous, ils. A preposition comes before the object ("entrer dans").

    `imperfect` (il, ils) translates the past of a lasting state: "did not fit", ne rentrait pas.
    """

    english: str
    english_past: str
    infinitive: str
    participle: str
    present: tuple[str, str, str, str, str]
    auxiliary: str = "avoir"
    english_preposition: str = ""
    french_preposition: str = ""
    imperfect: tuple[str, str] | None = None


def rows(table: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")] for line in table.strip().splitlines()]


def english_plural(word: str) -> str:
    if word.endswith(("s", "x", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def _french_plural(word: str) -> str:
    if word.endswith(("s", "x", "z")):
        return word
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + ("x" if word.endswith("eau") else "s")


def read_nouns(table: str) -> dict[str, Noun]:
    nouns = {}
    for english, french, gender, kinds in rows(table):
        one, *many = english.split()
        un, *plusieurs = french.split()
        nouns[one] = Noun(
            one,
            many[0] if many else english_plural(one),
            un,
            plusieurs[0] if plusieurs else _french_plural(un),
            gender,
            frozenset(kinds.split()),
        )
    return nouns


def read_adjectives(table: str, *, before: bool = False) -> dict[str, Adjective]:
    adjectives = {}
    for english, french in rows(table):
        masculine, *rest = french.split()
        feminine = rest[0] if rest else masculine if masculine.endswith("e") else masculine + "e"
        adjectives[english] = Adjective(
            english, masculine, feminine, before, rest[1] if len(rest) > 1 else None
        )
    return adjectives


def regular_present(infinitive: str) -> tuple[str, str, str, str, str]:
    stem = infinitive[:-2]
    soft = stem + "e" if stem.endswith("g") else stem
    return stem + "e", stem + "e", soft + "ons", stem + "ez", stem + "ent"


def read_verbs(table: str, *, auxiliary: str = "avoir") -> dict[str, Verb]:
    verbs = {}
    for english, french, *irregular in rows(table):
        base, past = english.split()
        infinitive, *participle = french.split()
        je, il, nous, vous, ils = irregular[0].split() if irregular else regular_present(infinitive)
        done = participle[0] if participle else infinitive[:-2] + "é"
        verbs[base] = Verb(base, past, infinitive, done, (je, il, nous, vous, ils), auxiliary)
    return verbs


# The nouns. After each gender stand its kinds, by which `frames.py` chooses who does what to what.

NOUNS = read_nouns("""
animal | animal | m | animal climber
dog | chien | m | animal pet hunter
cat | chat | m | animal pet hunter climber
horse | cheval | m | animal pet beast
cow | vache | f | animal beast
bird | oiseau | m | animal pet prey
mouse mice | souris | f | animal pet prey climber
fox | renard | m | animal hunter
rabbit | lapin | m | animal pet prey
goat | chèvre | f | animal beast pet climber
turtle | tortue | f | animal pet
bear | ours | m | animal hunter climber
wolf wolves | loup | m | animal hunter
monkey | singe | m | animal climber
frog | grenouille | f | animal prey
hen | poule | f | animal pet prey
duck | canard | m | animal pet prey
lion | lion | m | animal hunter
donkey | âne | m | animal beast pet
owl | hibou hiboux | m | animal hunter
hedgehog | hérisson | m | animal prey
squirrel | écureuil | m | animal prey climber
pig | cochon | m | animal pet
elephant | éléphant | m | animal beast
giraffe | girafe | f | animal
otter | loutre | f | animal hunter
panther | panthère | f | animal hunter climber
mule | mule | f | animal beast
man men | homme | m | person
woman women | femme | f | person
boy | garçon | m | person
girl | fille | f | person
child children | enfant | m | person
friend | ami | m | person own
doctor | médecin | m | person own
teacher | professeur | m | person own
farmer | fermier | m | person
neighbour | voisin | m | person own
baker | boulanger | m | person own
worker | ouvrier | m | person
student | étudiant | m | person
tourist | touriste | m | person
king | roi | m | person
queen | reine | f | person
prince | prince | m | person
princess | princesse | f | person
brother | frère | m | person own
sister | sœur | f | person own
uncle | oncle | m | person own
aunt | tante | f | person own
niece | nièce | f | person own
lady | dame | f | person
actress | actrice | f | person
waitress | serveuse | f | person
street | rue | f | path
road | route | f | path
path | chemin | m | path
avenue | avenue | f | path
bridge | pont | m | path
square | place | f | path place
boulevard | boulevard | m | path
alley | ruelle | f | path
motorway | autoroute | f | path
river | rivière | f | water place
lake | lac | m | water place
stream | ruisseau | m | water
canal | canal | m | water
pond | étang | m | water place
bay | baie | f | water
field | champ | m | land
meadow | prairie | f | land
forest | forêt | f | land place
desert | désert | m | land
valley | vallée | f | land
park | parc | m | land place
garden | jardin | m | land place
plain | plaine | f | land
house | maison | f | building place good
barn | grange | f | building
cave | grotte | f | building
kitchen | cuisine | f | building
garage | garage | m | building
stable | écurie | f | building
tunnel | tunnel | m | building
church | église | f | building place
castle | château | m | building place
school | école | f | building place
shop | magasin | m | building place
tent | tente | f | building
hut | hutte | f | building
hotel | hôtel | m | building place
shed | hangar | m | building
wall | mur | m | height
mountain | montagne | f | height
hill | colline | f | height
tower | tour | f | height
rock | rocher | m | height
cliff | falaise | f | height
fence | clôture | f | height
soup | soupe | f | food
apple | pomme | f | food
cake | gâteau | m | food
cheese | fromage | m | food
pear | poire | f | food
salad | salade | f | food
carrot | carotte | f | food
sandwich | sandwich | m | food
pizza | pizza | f | food
egg | œuf | m | food
biscuit | biscuit | m | food
tart | tarte | f | food
omelette | omelette | f | food
melon | melon | m | food
box | boîte | f | load holder
bag | sac | m | load holder
suitcase | valise | f | load holder good
basket | panier | m | load holder gear
table | table | f | load bulky
chair | chaise | f | load bulky
stone | pierre | f | load breaker
barrel | tonneau | m | load
bench | banc | m | load bulky
parcel | paquet | m | load bulky
log | bûche | f | load
bucket | seau | m | load gear
hammer | marteau | m | breaker
ball | balle | f | breaker
bottle | bouteille | f | breakable
vase | vase | m | breakable bulky
glass | verre | m | breakable
plate | assiette | f | breakable
mirror | miroir | m | breakable bulky good
cup | tasse | f | breakable
bowl | bol | m | breakable gear
blanket | couverture | f | gear
cushion | coussin | m | gear
cage | cage | f | gear
car | voiture | f | vehicle machine holder good
truck | camion | m | vehicle machine holder
bus | bus | m | vehicle machine
tractor | tracteur | m | vehicle machine
van | camionnette | f | vehicle machine holder
motorbike | moto | f | vehicle machine good
taxi | taxi | m | vehicle
ambulance | ambulance | f | vehicle
clock | horloge | f | machine
radio | radio | f | machine good
computer | ordinateur | m | machine good
printer | imprimante | f | machine
engine | moteur | m | machine
book | livre | m | text
letter | lettre | f | text
newspaper | journal | m | text
story | histoire | f | text
poem | poème | m | text
message | message | m | text
novel | roman | m | text
speech | discours | m | text
answer | réponse | f | text
coat | manteau | m | good
hat | chapeau | m | good
dress | robe | f | good
watch | montre | f | good
lamp | lampe | f | good breakable
ring | bague | f | good
scarf scarves | écharpe | f | good
door | porte | f | opening
window | fenêtre | f | opening breakable
gate | portail portails | m | opening
drawer | tiroir | m | opening holder
cupboard | placard | m | opening holder
trophy | trophée | m | bulky
piano | piano | m | bulky
statue | statue | f | bulky
guitar | guitare | f | bulky good
sofa | canapé | m | bulky
painting | tableau | m | bulky good
""")

PROFESSIONS = tuple(
    Noun(english, english_plural(english), masculine, feminine, "m", frozenset({"profession"}))
    for english, masculine, feminine in rows("""
student | étudiant | étudiante
teacher | professeur | professeure
doctor | médecin | médecin
baker | boulanger | boulangère
farmer | fermier | fermière
singer | chanteur | chanteuse
lawyer | avocat | avocate
nurse | infirmier | infirmière
musician | musicien | musicienne
engineer | ingénieur | ingénieure
""")
)
"""Here `french` is the masculine and `french_plural` the feminine singular; plurals add an s."""


# The adjectives; those that stand before a French noun come first.

ADJECTIVES = read_adjectives(
    """
big | grand
small | petit
old | vieux vieille vieil
new | nouveau nouvelle nouvel
young | jeune
beautiful | beau belle bel
good | bon bonne
high | haut
long | long longue
""",
    before=True,
) | read_adjectives("""
red | rouge
blue | bleu
green | vert
white | blanc blanche
black | noir
grey | gris
brown | brun
famous | célèbre
rich | riche
tired | fatigué
hungry | affamé
thirsty | assoiffé
scared | effrayé
ill | malade
weak | faible
strong | fort
nervous | nerveux nerveuse
shy | timide
sad | triste
angry | fâché
happy | heureux heureuse
calm | calme
lazy | paresseux paresseuse
slow | lent
fast | rapide
agile | agile
clever | rusé
curious | curieux curieuse
suspicious | méfiant
strange | étrange
busy | occupé
impatient | impatient
poor | pauvre
careful | prudent
stingy | avare
clumsy | maladroit
wide | large
narrow | étroit
noisy | bruyant
dangerous | dangereux dangereuse
slippery | glissant
dark | sombre
steep | raide
deep | profond
cold | froid
hot | chaud
vast | vaste
muddy | boueux boueuse
damp | humide
dirty | sale
clean | propre
dry | sec sèche
smooth | lisse
salty | salé
bitter | amer amère
hard | dur
sweet | sucré
spicy | épicé
rotten | pourri
heavy | lourd
fragile | fragile
solid | solide
thin | mince
full | plein
complicated | compliqué
difficult | difficile
boring | ennuyeux ennuyeuse
expensive | cher chère
ugly | laid
""")


# The verbs: base, past | infinitive, participle | je, il, nous, vous, ils; regular forms are left out.

_FIT = Verb(
    "fit",
    "fit",
    "rentrer",
    "rentré",
    regular_present("rentrer"),
    english_preposition="in",
    french_preposition="dans",
    imperfect=("rentrait", "rentraient"),
)
_ENTER = Verb(
    "enter",
    "entered",
    "entrer",
    "entré",
    regular_present("entrer"),
    auxiliary="être",
    french_preposition="dans",
)

VERBS = {
    "fit": _FIT,
    "enter": _ENTER,
    **read_verbs("""
cross crossed | traverser
explore explored | explorer
eat ate | manger
taste tasted | goûter
climb climbed | escalader
carry carried | porter
lift lifted | soulever soulevé | soulève soulève soulevons soulevez soulèvent
push pushed | pousser
chase chased | poursuivre poursuivi | poursuis poursuit poursuivons poursuivez poursuivent
catch caught | attraper
watch watched | regarder
take took | prendre pris | prends prend prenons prenez prennent
read read | lire lu | lis lit lisons lisez lisent
translate translated | traduire traduit | traduis traduit traduisons traduisez traduisent
finish finished | finir fini | finis finit finissons finissez finissent
buy bought | acheter acheté | achète achète achetons achetez achètent
sell sold | vendre vendu | vends vend vendons vendez vendent
repair repaired | réparer
open opened | ouvrir ouvert | ouvre ouvre ouvrons ouvrez ouvrent
break broke | casser
wash washed | laver
clean cleaned | nettoyer nettoyé | nettoie nettoie nettoyons nettoyez nettoient
prepare prepared | préparer
see saw | voir vu | vois voit voyons voyez voient
find found | trouver
like liked | aimer
"""),
}

INTRANSITIVES = read_verbs("""
sleep slept | dormir dormi | dors dort dormons dormez dorment
run ran | courir couru | cours court courons courez courent
wait waited | attendre attendu | attends attend attendons attendez attendent
play played | jouer
jump jumped | sauter
drink drank | boire bu | bois boit buvons buvez boivent
""") | read_verbs(
    """
arrive arrived | arriver
fall fell | tomber
stay stayed | rester
come came | venir venu | viens vient venons venez viennent
""",
    auxiliary="être",
)


# Who does what to what, and which adjective tells the doer from the thing: the meaning behind every
# pronoun.
# In "the S did not V the O because it was too ADJ" only ADJ decides what "it" is. `subject_adjectives` fit
# the subject of the frame alone, `object_adjectives` the object alone. In some frames both nouns are of
# one kind (chase) or of any kind (fit): there the part they play decides, not the noun.

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
