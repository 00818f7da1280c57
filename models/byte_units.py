"""Amounts of bytes, in limits and in texts: a kB is 1,000 bytes, a MB 1,000 kB, a GB 1,000 MB."""

KB, MB, GB = 10**3, 10**6, 10**9


def readable(n_bytes: int) -> str:
    """Bytes as a person reads them: 12 bytes, 512 kB, 1.5 GB."""
    for unit, name in ((GB, "GB"), (MB, "MB"), (KB, "kB")):
        if n_bytes >= unit:
            share = n_bytes / unit
            return f"{share:.1f} {name}" if share < 10 else f"{share:,.0f} {name}"
    return f"{n_bytes} bytes"
