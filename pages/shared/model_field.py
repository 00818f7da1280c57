"""Where a person names a model of transformers: one field for every page that takes one."""

from collections.abc import Callable

from attention_lab.models.zoo.hub.model_folder import NAME, PREFIX
from attention_lab.pages.shared import cache, model_download, on_offer, st, visitors
from attention_lab.pages.shared.phrases import plain
from attention_lab.pages.shared.state import KEPT, refuse

MOST = 300
MOST_LISTED = 12
KEY = "other_model"
Open = Callable[[str], None]


def popover(open_model: Open) -> None:
    """Draws the field where a page has little room."""
    with st.popover("Another model…", width="stretch"):
        field(open_model)


def field(open_model: Open, more: Callable[[Open], None] | None = None) -> None:
    """Draws it. open_model: shows the model of a name, or says why it cannot. more: draws what else can be
    opened.
    """
    other = "its name in the local cache" if visitors.is_class() else "/a/folder"
    st.text_input(
        "Name or folder of a model",
        key=KEY,
        max_chars=MOST,
        placeholder=f"gpt2, or {other}",
        on_change=_open_typed,
        args=(open_model,),
    )
    st.caption("BERT, GPT-2, T5, Llama, ViT and others; none of its programs is run.")
    model_download.field(open_model)
    _here(open_model)
    if more is not None:
        more(open_model)


def _here(open_model: Open) -> None:
    """The models of transformers on this machine, a press for each."""
    here = on_offer.of_transformers()
    st.caption("On this machine:" if here else "No model of transformers is on this machine yet.")
    for name in here[:MOST_LISTED]:
        st.button(plain(name.removeprefix(PREFIX)), key=f"here.{name}", on_click=open_model, args=(name,))


def can_open(name: str) -> bool:
    """Whether this visitor may open a model and it can be loaded; where not, the page says why, and that the
    model before it stays.
    """
    try:
        if on_offer.may_open(name):
            cache.model(name)
            return True
        why = on_offer.why_not(name)
    except ValueError as error:
        why = str(error)
    refuse(f"{why.removesuffix('.')}; the previous model stays loaded.")
    return False


def _open_typed(open_model: Open) -> None:
    typed = str(st.session_state.get(KEY, "")).strip().removeprefix(PREFIX)[:MOST]
    if not typed:
        return
    name = f"{PREFIX}{typed}"
    if not NAME.fullmatch(name):
        refuse(f"{typed[:80]!r} is no name of a model; give one like gpt2, or a folder's path; {KEPT}.")
        return
    model_download.want(name)
    open_model(name)
