"""The adjectives; those that stand before a French noun come first."""

from models.data.grammar.lexemes import read_adjectives

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
