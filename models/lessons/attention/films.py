"""Where the dot product comes from: features of films, tastes of viewers, and who should watch what."""

from jaxtyping import Bool, Float
from torch import Tensor


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
