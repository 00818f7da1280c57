"""The verbs: base, past | infinitive, participle | je, il, nous, vous, ils; regular forms are left out."""

from models.data.grammar.lexemes import Verb, read_verbs, regular_present

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
