from attention_lab.models.byte_units import GB, KB, MB, readable


def test_units_go_in_thousands_and_two_digits_are_said_at_least() -> None:
    counts = (0, 12, 2 * KB, 512_400, 5 * MB, 17_400 * KB, 1_240 * MB, 1_234 * GB)
    said = ["0 bytes", "12 bytes", "2.0 kB", "512 kB", "5.0 MB", "17 MB", "1.2 GB", "1,234 GB"]
    assert [readable(n_bytes) for n_bytes in counts] == said
