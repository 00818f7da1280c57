"""The nouns. After each gender stand its kinds, by which `frames.py` chooses who does what to what."""

from models.data.grammar.lexemes import Noun, english_plural, read_nouns, rows

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
