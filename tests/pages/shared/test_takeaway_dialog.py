import pytest

from attention_lab.pages.shared.takeaway_dialog import spreadsheet_cells


@pytest.mark.parametrize(
    "word", ["=1+1", '=HYPERLINK("http://x")', "+a", "-", "@sum", "\t=1", "\r=1", "\n=1"]
)
def test_a_word_that_a_spreadsheet_would_run_gets_an_apostrophe(word):
    assert spreadsheet_cells([word]) == [f"'{word}"]


@pytest.mark.parametrize("word", ["cat", "", "a=b", "-0.5", "+2", "-1e-3", "-inf", "'quoted'", " =1", "−"])
def test_other_words_and_numbers_stay_as_they_are(word):
    assert spreadsheet_cells([word]) == [word]
