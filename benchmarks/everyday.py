"""How well the everyday translator does, and what its heads do: the tables of docs/scores.md.

`python -m benchmarks.everyday --pairs eng-fra.tsv`: chrF and BLEU with their intervals on pairs whose English
was never trained on, beside a baseline that looks up the most similar sentence of training and gives its
translation; then, for each head, the error of its cross-attention against pairs aligned by hand, what it puts
on the token before and on the first one, and whether from a pronoun it looks at the noun that is meant, in
sentences of our grammar, which knows. Without the table of pairs, the scores are those on the pairs that the
model brings.
"""

import argparse
from collections.abc import Iterator, Sequence
from itertools import islice

import numpy as np
import torch

from attention_lab.models.data.grammar import Pair, counterpart, sample_pairs
from attention_lab.models.data.tasks import Split, generator_of
from attention_lab.models.data.tasks.everyday import DIRECTIONS, LANGUAGES, Everyday, aligned_pairs
from attention_lab.models.data.tasks.sentence_pairs import make_batch
from attention_lab.models.scores.report import corpus_scores
from attention_lab.models.zoo import load_model
from attention_lab.models.zoo.engine_model import TrainedModel
from attention_lab.viz_core.measures import head_scores

SENTENCES = 2_000
PRONOUNS = 500
AT_ONCE = 50


def unseen(task: Everyday) -> Split:
    """The part that was neither trained on nor looked at, or of a model without its table what it brings."""
    return "test" if task.rows["test"] else "held out"


def held_out(task: Everyday, n: int) -> dict[str, list[int]]:
    """By direction, the places in its part of `n` examples, no source twice, in an order of chance."""
    rows = task.rows[unseen(task)]
    order = torch.randperm(len(rows), generator=generator_of(0, 0)).tolist()
    chosen: dict[str, dict[str, int]] = {direction: {} for direction in DIRECTIONS}
    for at in order:
        known = chosen[DIRECTIONS[at % 2]]
        if len(known) < n:
            known.setdefault(rows[at][0], at)
    return {direction: list(known.values()) for direction, known in chosen.items()}


@torch.no_grad()
def written(lm: TrainedModel[Everyday], places: Sequence[int]) -> list[str]:
    """The greedy translations of these examples."""
    task, split = lm.task, unseen(lm.task)
    by_length = sorted(places, key=lambda at: len(task.rows[split][at][0]))
    texts: dict[int, str] = {}
    for start in range(0, len(by_length), AT_ONCE):
        rows = by_length[start : start + AT_ONCE]
        batch = make_batch([task.example(split, at) for at in rows])
        texts |= zip(rows, task.translations(lm.model, batch), strict=True)
    return [texts[at] for at in places]


def looked_up(task: Everyday, sources: Sequence[str], direction: int) -> list[str]:
    """The translation of the most similar sentence of training, by cosine of TF-IDF of 2 to 4 letters."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    rows = task.rows["training"][direction::2]
    vectorizer = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), dtype=np.float32)
    known = vectorizer.fit_transform(source for source, _ in rows)
    found: list[str] = []
    for start in range(0, len(sources), AT_ONCE):
        like = vectorizer.transform(sources[start : start + AT_ONCE]) @ known.T
        found += [rows[int(at)][1] for at in like.argmax(axis=1).A1]
    return found


def score_rows(task: Everyday, lm: TrainedModel[Everyday], n: int) -> Iterator[str]:
    for number, (direction, places) in enumerate(held_out(task, n).items()):
        sources, references = zip(*(task.rows[unseen(task)][at] for at in places), strict=True)
        ways = {"the model": written(lm, places)}
        if task.rows["training"]:
            ways["most similar sentence of training"] = looked_up(task, sources, number)
        for way, texts in ways.items():
            scores = corpus_scores(texts, references)
            cells = [f"{s.value:.1f} ({s.interval[0]:.1f}–{s.interval[1]:.1f})" for s in scores if s.interval]
            one, other = (LANGUAGES[each] for each in direction.split("-"))
            yield f"| {one} to {other}, {way} | {len(texts):,} | {' | '.join(cells)} |"


def head_measures(lm: TrainedModel[Everyday]) -> dict[str, np.ndarray]:
    """[layer, head]: by "stack measure", the alignment error of cross-attention over all pairs together, and
    the means over pairs of what a head puts on the token before its query and on the first.
    """
    found: dict[str, list[np.ndarray]] = {}
    agreed = np.zeros(2)
    counts: list[np.ndarray] = []
    for english, french in aligned_pairs():
        reading = lm.read(english, target=french, direction="en-fr")
        aligned = lm.task.alignments(reading)
        assert aligned is not None  # the pairs are those that are aligned
        sure = {(each.query, each.key) for each in aligned if each.sure}
        every = {(each.query, each.key) for each in aligned}
        trace = lm.trace(reading)
        queries = sorted({query for query, _ in every})
        hits = []
        for stack in ("encoder.self", "decoder.self", "decoder.cross"):
            for layer in range(lm.config.n_layers):
                pattern = trace[f"{stack.split('.')[0]}.{layer}.{stack.split('.')[1]}.pattern"].numpy()
                if stack == "decoder.cross":
                    chosen = [[(q, int(head[q].argmax())) for q in queries] for head in pattern]
                    hits.append([(sum(c in sure for c in h), sum(c in every for c in h)) for h in chosen])
                    continue
                scores = head_scores(pattern, tokens=trace.tokens[stack.split(".")[0]])
                for name in ("previous", "first"):
                    found.setdefault(f"{stack} {name} {layer}", []).append(scores[name])
        counts.append(np.array(hits))  # [layer, head, (sure, any)]
        agreed += len(queries), len(sure)
    shared = np.sum(counts, axis=0).sum(axis=-1)
    means: dict[str, np.ndarray] = {"decoder.cross alignment error": 1 - shared / agreed.sum()}
    for key, values in found.items():
        stack, name, number = key.split()
        rows = means.setdefault(f"{stack} on the {name}", np.zeros((lm.config.n_layers, lm.config.n_heads)))
        rows[int(number)] = np.mean(values, axis=0)
    return means


def meant(lm: TrainedModel[Everyday], pair: Pair) -> tuple[np.ndarray, bool]:
    """What each head of the encoder puts from the pronoun on the noun that it means, and on the other one,
    [2, layer, head], over all pieces of a word; and whether the pronoun of the French sentence is written.
    """
    starts, text = [], ""
    for word in pair.english:
        text += word if word in ".,?" else f" {word}"
        starts.append(len(text) - len(word))
    trace = lm.trace(text[1].upper() + text[2:], direction="en-fr")
    ends = np.cumsum([0, *map(len, trace.tokens["encoder"][1:-1])])  # between <2fr> and <eos>

    def of(word: int) -> np.ndarray:
        end = starts[word] + len(pair.english[word])
        return np.flatnonzero((ends[:-1] < end) & (ends[1:] > starts[word])) + 1

    mention = pair.english_mention
    assert mention is not None
    patterns = [trace[f"encoder.{layer}.self.pattern"].numpy() for layer in range(lm.config.n_layers)]
    rows = np.stack(patterns)[:, :, of(mention.pronoun)].mean(axis=2)
    noun, other = (rows[..., of(word)].sum(axis=-1) for word in (mention.antecedent, mention.rival))
    spoken = "".join(trace.tokens["decoder"][1:]).lower().replace("'", " ").replace("-", " ").split()
    pronoun = pair.french[pair.french_mention.pronoun] if pair.french_mention else ""
    return np.stack([noun, other]), pronoun in spoken


def pronoun_measures(lm: TrainedModel[Everyday], n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of `n` sentences of our grammar, and `n` in which another adjective makes the pronoun mean the other
    noun: the mean weights on the noun meant and on the other one, [2, layer, head]; whether more is on the
    first, [n, 2, layer, head]; and whether the French pronoun is written, [n, 2].
    """
    pairs = (pair for pair in sample_pairs(0, "held out", pronouns=1.0) if counterpart(pair))
    both = [(pair, counterpart(pair)) for pair in islice(pairs, n)]
    found = [[meant(lm, each) for each in two if each] for two in both]
    looks = np.array([[look for look, _ in two] for two in found])
    spoken = np.array([[is_written for _, is_written in two] for two in found])
    return looks.mean(axis=(0, 1)), looks[:, :, 0] > looks[:, :, 1], spoken


def pronoun_rows(lm: TrainedModel[Everyday], n: int) -> Iterator[str]:
    weights, more, right = pronoun_measures(lm, n)
    layer, head = np.unravel_index(weights[0].argmax(), weights[0].shape)
    on = " and ".join(f"{each[layer, head]:.2f}" for each in weights)
    shares, twice = more.mean(axis=(0, 1)), more.all(axis=1).mean(axis=0)
    yield f"pronouns: {2 * n} sentences, two by two alike but for the adjective"
    yield f"most on the noun meant, encoder layer {layer} head {head}: {on} on the other noun"
    yield f"more there: {shares.min():.1%} to {shares.max():.1%}, in both of two up to {twice.max():.1%}"
    yield f"French pronoun written: {right.mean():.1%}, in both of two {right.all(axis=1).mean():.1%}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", default="", help="the table of English and French that it was trained on")
    parser.add_argument("--model", default="everyday", help="its name, folder or file")
    parser.add_argument("--sentences", type=int, default=SENTENCES, help="of each direction")
    given = parser.parse_args()
    lm = load_model(given.model)
    task = lm.task
    if given.pairs:
        task = Everyday(**(lm.task.to_dict() | {"file": given.pairs}))
        task.restore(lm.task.learnt())
        lm = TrainedModel(lm.name, task, lm.model, lm.card)
    print("| | sentences | chrF (95%) | BLEU (95%) |\n| --- | ---: | ---: | ---: |")
    for row in score_rows(task, lm, given.sentences):
        print(row, flush=True)
    for name, values in head_measures(lm).items():
        layer, head = np.unravel_index(values.argmin() if "error" in name else values.argmax(), values.shape)
        print(f"\n{name}: best {values[layer, head]:.2f}, layer {layer} head {head}")
        print("\n".join("  ".join(f"{value:.2f}" for value in row) for row in values))
    print("\n" + "\n".join(pronoun_rows(lm, PRONOUNS)))


if __name__ == "__main__":
    main()
