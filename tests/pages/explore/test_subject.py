from pages.explore.state import SHOWCASE, Inputs
from pages.explore.subject import subject_of


def test_the_page_traces_what_the_model_decoded_unknown_words_included() -> None:
    from models import load_model

    text = "the robot did not eat the banana because it was too rotten"
    subject = subject_of(Inputs(text=text))
    expected = load_model("translator").trace(text)
    assert "<unk>" in expected.tokens["decoder"]
    assert [token["text"] for token in subject.tokens["decoder"]] == expected.tokens["decoder"]
    assert subject.run(None)["logits"].equal(expected["logits"])
    assert {found["where"] for found in subject.unknown} == {"text"}


def test_a_typed_target_is_forced_and_its_unknown_words_are_named() -> None:
    subject = subject_of(Inputs(text=SHOWCASE, target="l'animal zzz"))
    assert [token["text"] for token in subject.tokens["decoder"]] == ["<bos>", "l'", "animal", "zzz"]
    assert [(found["where"], found["word"]) for found in subject.unknown] == [("target", "zzz")]
    assert subject.extras["typed"] is True


def test_the_translation_sets_its_pronouns_apart() -> None:
    parts = subject_of(Inputs(text=SHOWCASE)).extras["translation"]
    assert [part["text"] for part in parts if part["strong"]] == ["il"]
    assert (
        "".join(part["text"] for part in parts)
        == "l'animal n'a pas traversé la rue parce qu'il était trop fatigué"
    )


def test_padding_of_the_source_is_on_the_axes_and_changes_no_output() -> None:
    plain, padded = subject_of(Inputs()), subject_of(Inputs(padding=3))
    assert [token["text"] for token in padded.tokens["encoder"][-4:]] == ["<eos>", "<pad>", "<pad>", "<pad>"]
    assert [(stack.n_query, stack.n_key) for stack in padded.stacks] == [(17, 17), (15, 15), (15, 17)]
    assert padded.extras == plain.extras
    close = (padded.run(None)["logits"] - plain.run(None)["logits"]).abs().max()
    assert close < 1e-4


def test_the_code_reproduces_the_trace() -> None:
    for inputs in (
        Inputs(),
        Inputs(padding=3),
        Inputs(model="untrained", text="a b a", n_heads=2, mask="causal", attention_scale="0.5"),
        Inputs(model="untrained", text="a b a", mask="painted", mask_arg="110;001;111"),
    ):
        subject = subject_of(inputs)
        names: dict[str, object] = {}
        exec(subject.code, names)
        assert names["trace"]["encoder.1.self.pattern"].equal(subject.run(None)["encoder.1.self.pattern"])  # type: ignore[index]
