"""The third-person pronouns of both languages, each one word to the tokenizer."""

PRONOUNS = (
    *("it", "they", "he", "she", "it's", "they're", "he's", "she's"),
    *("il", "elle", "ils", "elles"),
)
