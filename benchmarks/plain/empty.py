"""The least that a Streamlit page can show."""

import streamlit as st

st.write("hello")
