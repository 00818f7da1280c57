"""The floor: what a slider and its echo cost on a page that does nothing else."""

import streamlit as st


@st.fragment
def echo() -> None:
    st.write(f"value {st.slider('value', 0, 1000)}")


echo()
