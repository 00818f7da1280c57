from pages.shared.training import scores


def test_shares_are_in_per_cent_and_errors_are_not() -> None:
    assert scores.worded("exact match", 0.987) == "98.7 %"
    assert scores.worded("bits per character", 2.5) == "2.500"
