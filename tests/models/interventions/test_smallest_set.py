"""The smallest set of heads that an answer needs, against every set tried by hand."""

from itertools import combinations

from attention_lab.models import load_model
from attention_lab.models.data.tasks import Reading
from attention_lab.models.interventions.smallest_set import Head, Smallest, smallest_set

TEXT = "the animal did not cross the street because it was too tired"
HEADS = [Head("encoder.1.self", head) for head in range(4)]


def test_no_three_heads_of_the_second_layer_but_all_four_change_the_pronoun() -> None:
    model = load_model("translator")
    reading = model.read(TEXT)
    found = smallest_set(model, reading, HEADS)
    usual = reading.answer
    changes = {
        chosen
        for size in range(1, 5)
        for chosen in combinations(range(4), size)
        if model.answer(reading, edits=[f"encoder.1.self heads {','.join(map(str, chosen))}: zero"]).answer
        != usual
    }
    assert changes == {(0, 1, 2, 3)}
    assert found == Smallest(tuple(HEADS), found.answer, usual, 15, 3)
    assert "qu'il" in usual and "qu'elle" in found.answer


class Counted:
    """Writes "a" as long as one of the heads 1 and 2 is on."""

    def answer(self, what: Reading, *, edits: list[str] | tuple = (), **settings: object) -> Reading:
        off = {int(n) for line in edits for n in line.split("heads ")[1].split(":")[0].split(",")}
        return Reading((), {}, "", answer="b" if {1, 2} <= off else "a")


def test_sets_are_tried_from_small_to_large_until_their_number_is_out() -> None:
    reading, heads = Reading((), {}), [Head("encoder.0.self", head) for head in range(4)]
    found = smallest_set(Counted(), reading, heads)
    assert (found.heads, found.answer, found.whole) == ((heads[1], heads[2]), "b", 1)
    assert found.tried == 4 + 4  # (0,1), (0,2), (0,3), (1,2)
    few = smallest_set(Counted(), reading, heads, most=6)
    assert (few.heads, few.tried, few.whole) == ((), 6, 1)
    shares: list[float] = []
    smallest_set(Counted(), reading, heads, most=10, progress=shares.append)
    assert shares == [at / 10 for at in range(8)]
    none = smallest_set(Counted(), reading, heads[:1])
    assert (none.heads, none.answer, none.whole) == ((), "a", 1)
