"""Streamlit, imported when it is first used: what a notebook shows of the pages needs none of it."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from streamlit import *  # noqa: F403
    from streamlit.delta_generator import DeltaGenerator as DeltaGenerator
else:
    DeltaGenerator = Any

    def __getattr__(name: str) -> Any:
        if name.startswith("__"):  # what Python asks each module for
            raise AttributeError(name)
        import streamlit

        return getattr(streamlit, name)
