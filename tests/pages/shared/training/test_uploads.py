from pages.shared.training import uploads


def test_a_sentence_calls_a_file_what_its_owner_knows_it_by() -> None:
    name = f"{'0f' * 32}.csv"
    told = uploads.without_names(f"'{name}' has no line; 'text.csv' has")
    assert told == f"{uploads.THE_FILE} has no line; 'text.csv' has"
    assert uploads.without_names(f"{name} is empty") == f"{uploads.THE_FILE} is empty"
