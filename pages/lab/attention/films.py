"""Where the dot product comes from: features of films, tastes of viewers, and who should watch what."""

from typing import Any

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from attention_lab.pages.lab.attention.inputs import FEATURES, FILMS, VIEWERS, Inputs, embeddings, names
from attention_lab.pages.lab.lesson import Answer, Lesson, Note, part
from attention_lab.viz_core.boards import Matrix, query_by_key
from attention_lab.viz_core.labels import short


def recommend(
    viewers: Float[Tensor, "viewer feature"], films: Float[Tensor, "film feature"]
) -> dict[str, Tensor]:
    """How well each film fits each viewer, as attention: viewers ask, films answer.

    dots and pattern [viewer, film]; z [viewer, feature] is the mix of features that a viewer gets by
    watching the films in proportion to the pattern.
    """
    dots = viewers @ films.mT  # [viewer, film]
    pattern = dots.softmax(dim=-1)  # [viewer, film]
    z = pattern @ films  # [viewer, feature]
    return {"dots": dots, "pattern": pattern, "z": z}


def best(dots: Float[Tensor, "viewer film"]) -> Bool[Tensor, "viewer film"]:
    """The films to recommend: those with a viewer's largest dot product, several if they are equal."""
    return dots == dots.amax(dim=-1, keepdim=True)


def lesson(inputs: Inputs) -> Lesson:
    viewers = names(inputs.viewers, "viewers", separator=",")
    titles = names(inputs.films, "films", separator=",")
    tastes, features = embeddings(viewers, inputs.tastes), embeddings(titles, inputs.features)
    result = recommend(tastes, features)
    chosen = best(result["dots"])
    dots, pattern, z = (result[name].numpy() for name in ("dots", "pattern", "z"))
    viewer: dict[str, Any] = {"rows": viewers, "row_axis": "query"}
    described: dict[str, Any] = {"columns": FEATURES, "column_axis": "feature"}
    cells = query_by_key(viewers, titles)
    told = int(tastes.any(-1).int().argmin())  # the first who likes nothing, else the first of all
    first = [titles[at] for at in chosen[told].nonzero()[:, 0].tolist()]
    terms = " + ".join(
        f"({short(t)})·({short(f)})"
        for t, f in zip(tastes[told], features[int(dots[told].argmax())], strict=True)
    )
    notice = (
        f"{viewers[told]} should watch **{' or '.join(first)}**: {terms} = **{short(dots[told].max())}**, "
        f"which earns {pattern[told].max():.2f} of the weight."
        if tastes[told].any()
        else f"{viewers[told]} likes nothing: every dot product is **0**, and each film gets "
        f"**{pattern[told].max():.2f}** of the weight."
    )
    return Lesson(
        rows=[
            [
                Matrix(
                    title="viewers: Q", values=tastes.numpy(), role="query", edit="tastes", **viewer,
                    **described,
                ),
                Matrix(
                    title="films: K", values=features.numpy(), role="key", edit="features",
                    rows=titles, row_axis="key", **described,
                ),
            ],
            [
                Matrix(title="dot products: Q Kᵀ", values=dots, digits=1, marked=chosen.numpy(), **cells),
                Matrix(title="pattern: softmax", values=pattern, scale="weights", **cells),
                Matrix(title="Z: pattern V, with V = K", values=z, **viewer, **described),
            ],
        ],
        notice=notice,
        sizes=rf"{len(viewers)} \text{{ viewers}},\; {len(titles)} \text{{ films}},\; d_k = {len(FEATURES)}",
        axes={"viewer": len(viewers), "film": len(titles), "feature": len(FEATURES)},
        code=[recommend, best],
    )  # fmt: skip


def questions() -> tuple[Answer, ...]:
    tastes, titles = torch.tensor(tuple(VIEWERS.values())), torch.tensor(tuple(FILMS.values()))
    usual, keen = recommend(tastes, titles), recommend(3 * tastes, titles)
    same = torch.equal(best(usual["dots"]), best(keen["dots"]))
    before, after = (result["pattern"][3].max().item() for result in (usual, keen))
    bored = recommend(torch.zeros(1, 3), titles)["pattern"][0]
    evenly = (bored.max() - bored.min()).item() < 1e-6
    bo, letter = VIEWERS["Bo"][0], FILMS["One Last Letter"][0]  # action
    return (
        Answer.of(1 if same and after > before else 0, before=before, after=after),
        Answer.of(0 if not bored.any() else 1 if evenly else 2, n_films=len(bored), bored=bored),
        Answer.of(2 if bo * letter > 0 else 0, bo=bo, letter=letter, product=bo * letter),
    )


TYPED = Note("Change a number in the tables.", small=False)
PART = part(__name__, (TYPED, "viewers", "films"), lesson, questions, also=("tastes", "features"))
