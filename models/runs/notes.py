"""What a person adds to a run: tags and notes, kept in its config.json; and the filter that finds them."""

from collections.abc import Iterable, Mapping
from typing import Any

MAX_NAME, MAX_NOTES = 80, 2_000
MAX_TAG, MAX_TAGS = 30, 8
MAX_FILTER = 100


def checked_name(name: str) -> str:
    """A run's name without needless blanks. Raises ValueError for an empty or very long one."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME:
        raise ValueError(f"{name[:100]!r} is no name for a run: give one of 1 to {MAX_NAME} letters")
    return name


def checked_about(about: Mapping[str, Any]) -> dict[str, Any]:
    """What else a new run's config.json says, with its tags and notes checked. Raises ValueError."""
    found = dict(about)
    if "tags" in found:
        found["tags"] = checked_tags(found["tags"])
    if "notes" in found:
        found["notes"] = checked_notes(found["notes"])
    return found


def checked_tags(tags: Iterable[str]) -> list[str]:
    """Tags without needless blanks, each once, in their order; a comma parts two tags.

    Raises ValueError for more than eight, or one that is longer than 30 characters.
    """
    words = [" ".join(word.split()) for tag in tags for word in tag.split(",")]
    found = list(dict.fromkeys(filter(None, words)))
    for tag in found:
        if len(tag) > MAX_TAG:
            raise ValueError(f"tag {tag[:MAX_TAG]!r}… has {len(tag)} characters; give at most {MAX_TAG}")
    if len(found) > MAX_TAGS:
        raise ValueError(f"{len(found)} tags are too many for one run; give at most {MAX_TAGS}")
    return found


def checked_notes(notes: str) -> str:
    """Notes without blanks around them. Raises ValueError for more than 2,000 characters."""
    notes = notes.strip()
    if len(notes) > MAX_NOTES:
        raise ValueError(f"the notes have {len(notes):,} characters; give at most {MAX_NOTES:,}")
    return notes


def tags_of(described: Mapping[str, Any]) -> list[str]:
    """The tags in a config.json, whatever it says; at most eight."""
    found = described.get("tags")
    tags = found if isinstance(found, list) else []
    return [tag[:MAX_TAG] for tag in tags if isinstance(tag, str) and tag][:MAX_TAGS]


def notes_of(described: Mapping[str, Any]) -> str:
    """The notes in a config.json, whatever it says; at most 2,000 characters."""
    found = described.get("notes")
    return found[:MAX_NOTES] if isinstance(found, str) else ""


def matches(words: str, described: Mapping[str, Any], state: str, *, name: str = "") -> bool:
    """Whether every word of a filter is in the run's name, tags, task, notes or state; case does not count.

    name: where it is another than the config's.
    """
    task = described.get("task")
    task_name = task.get("name", "") if isinstance(task, dict) else ""
    parts = [name or str(described.get("name", "")), str(task_name), state, notes_of(described)]
    text = "\n".join([*parts, *tags_of(described)]).casefold()
    return all(word in text for word in words[:MAX_FILTER].casefold().split())
