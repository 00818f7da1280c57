from pages.shared.training import scores


def test_shares_are_in_per_cent_and_errors_are_not() -> None:
    assert scores.worded("exact match", 0.987) == "98.7 %"
    assert scores.worded("bits per character", 2.5) == "2.500"


def test_no_score_is_rounded_to_nothing_or_to_all() -> None:
    assert scores.worded("loss", 0.0000123) == "1.23e-05" and scores.worded("loss", 0.0) == "0.000"
    assert scores.worded("accuracy", 0.0002) == "0.02 %" and scores.worded("accuracy", 0.9998) == "99.98 %"
    assert scores.worded("accuracy", 0.0, n=256) == "0 of 256"
    assert scores.worded("accuracy", 1.0, n=1_500) == "1,500 of 1,500"
    assert scores.worded("perplexity", 12_345.67) == "12,345.7"


def test_what_is_no_share_is_not_in_per_cent() -> None:
    for name in ("chrF", "BLEU", "macro F1", "positions 1 to 32", "bits per byte", "perplexity"):
        assert scores.worded(name, 0.5) == "0.500", name
