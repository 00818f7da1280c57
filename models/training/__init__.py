"""What processes that train one model together say to each other. It is read without torch."""


class PeerLost(RuntimeError):  # noqa: N818 (no fault of this process)
    """Another process of the group ended: this one cannot go on alone, and resumes with new ones."""
