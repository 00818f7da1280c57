"""What the page starts from, as plain numbers: importing them needs no torch."""

# Steps: four words of Explore's sentence; the French ones that are to be written ask about them.
CHANNELS = ("living", "place", "pronoun", "state")
TOKENS = {
    "animal": (1.5, 0.0, 0.0, 0.5),
    "street": (0.0, 1.5, 0.0, 0.0),
    "it": (0.5, 0.5, 1.5, 0.0),
    "tired": (0.5, 0.0, 0.0, 1.5),
}
QUERIES = {
    "il": (2.0, 0.0, 1.0, 0.0),
    "rue": (0.0, 2.0, 0.0, 0.0),
    "fatigué": (0.0, 0.0, 0.0, 2.0),
}
N_HEADS = (1, 2, 4)

# Worked example.
VALUES = ((4.0, 0.0, 2.0, -2.0), (-4.0, 4.0, 0.0, 2.0))
DOTS = ((112.0, 96.0),)

# Order.
SENTENCE = "the dog bites the man"
REORDERED = "the man bites the dog"
MAX_WORDS = 10

# Films and viewers.
FEATURES = ("action", "romance", "comedy")
FILMS = {
    "Space Chase": (2.0, -1.0, 1.0),
    "One Last Letter": (-1.0, 2.0, 0.0),
    "Three Uncles": (0.0, 1.0, 2.0),
    "Agents in Love": (2.0, 2.0, 0.0),
}
VIEWERS = {
    "Ana": (2.0, -1.0, 0.0),
    "Bo": (-1.0, 2.0, 0.0),
    "Chi": (-1.0, 0.0, 2.0),
    "Dev": (1.0, 1.0, 0.0),
}
