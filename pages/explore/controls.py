"""Widgets bound to the link: each one's key is the name of an input, so state, link and widget are one."""

from functools import lru_cache
from itertools import chain
from typing import Any
from urllib.parse import urlencode

from attention_lab.models.data.tasks import Advice
from attention_lab.models.data.word_tokenizer import SPECIALS, WordTokenizer
from attention_lab.models.fields import Field, number, read_link, whole
from attention_lab.models.limits import in_force
from attention_lab.models.zoo.offers import DEFAULT, Offer, Setting, offer_of, offers
from attention_lab.pages.explore import own_files, state
from attention_lab.pages.explore.state import Inputs, View
from attention_lab.pages.shared import cache, model_field, on_offer, server_load, st
from attention_lab.pages.shared.page_parts import alert, redraw, say_count
from attention_lab.pages.shared.st import DeltaGenerator
from attention_lab.pages.shared.state import State, arrive, guard_choice, refuse
from attention_lab.pages.shared.wording import plain
from attention_lab.pages.shared.words import say

MOST_SAID = 200  # characters of what a run says of itself
MOST_PICTURES = 1_000_000
PICTURE_LABEL = "Picture: choose one of those never seen in training, by its number."
PICTURE = {"picture": Field(1, whole(1, MOST_PICTURES), PICTURE_LABEL)}


def offer(model: str = "") -> Offer:
    """The offer of a model, by default of the chosen one; the default model's where that is gone."""
    return offer_of(model or page().kept["model"]) or offers()[DEFAULT]


class Page(State):
    """Explore's inputs for the chosen model. Its keys are the names of the inputs."""

    def key(self, field: str) -> str:
        return field


def page(model: str = "") -> Page:
    """The state of a model, its text and its settings; by default of the chosen model."""
    chosen = model or st.session_state.get("kept", {}).get("explore", {}).get("model", DEFAULT)
    return Page("explore", state.declared(chosen))


def load_link() -> None:
    """On arrival, puts the link's values, else those of the last visit, where the widgets find them."""
    if not arrive("explore"):
        return
    session, params = st.session_state, dict(st.query_params)
    view, problems = read_link(View, params)
    linked = read_link(state.COMMON, params)[0] if params else page().kept
    model = linked.get("model", DEFAULT)
    if offer_of(model) and on_offer.may_open(model):
        page(model).arrive()
    else:
        refuse(on_offer.refusal(model))
        page(DEFAULT).put(page(DEFAULT).defaults())
    refuse(*problems)
    look_at(**view)
    session.from_behind = session.pop("entered_by", 1) < 0
    session.pop("link_checked", None)


def look_at(**view: Any) -> None:
    """Asks for this view of what is computed next, and for no head of what was open."""
    st.session_state.view_link = view
    st.session_state.pop("opened", None)


def inputs_now() -> Inputs:
    """The widgets' present values."""
    current = page()
    st.session_state.explored = Inputs(**{name: current.kept[name] for name in current.params})
    return st.session_state.explored


def switch_model() -> None:
    """Shows the other model with its first text; its widgets, drawn anew, get the values that they had.

    Models that share a memory read the same text; every other one has its own.
    """
    session, now, before = st.session_state, page(), st.session_state.explored
    if not model_field.can_open(now.kept["model"]):
        now.put({"model": before.model})
        return
    texts = session.setdefault("texts", {})
    texts[offer(before.model).memory] = before.text
    had = {name: now.kept[name] for name, spec in now.params.items() if spec.rule.fits(now.kept[name])}
    # edits speak of the heads of the model that they were made for
    now.put({**now.defaults(), **had, "text": texts.get(offer().memory, offer().text), "edits": ""})
    look_at()


def read_wider(text: str) -> bool:
    """Has a text with words that the open model lacks read by the one that it names for them, where this
    visitor may open that one; True if it does. The page then says so, with the way back.
    """
    current, session = offer(), st.session_state
    other = offer_of(current.wider) if on_offer.may_open(current.wider) else None
    if other is None or session.get("stays") == current.name or not page().params["text"].rule.fits(text):
        return False
    lacking, name = words_lacking(current, text), other.name
    if not lacking:
        return False
    try:
        cache.on_worker(lambda: cache.model(name, {}).read(text))
    except ValueError:  # too long for it, say
        return False
    session.setdefault("texts", {})[other.memory] = text
    page().put({"model": name} | {s.name: s.default for s in other.settings if s.of_text})
    switch_model()
    session.widened = {"model": current.name, "text": text, "lacking": lacking}
    return True


def words_lacking(current: Offer, text: str) -> list[str]:
    """The different words of a text that a model of words does not know; none for other models."""
    if not current.words:
        return []
    known = _tokenizer(current.name, current.stamp).encode(text, among=()).unknown
    return list(dict.fromkeys(word.text for word in known))


@lru_cache(maxsize=8)
def _tokenizer(name: str, stamp: int) -> WordTokenizer:
    return WordTokenizer(list(dict.fromkeys(chain(SPECIALS, *offer(name).words.values()))))


def read_all_the_same() -> None:
    """The way back: the model that lacks words of the text reads it, with <unk> in their places, and those
    that are typed next. The button may be pressed as it vanishes.
    """
    before = st.session_state.pop("widened", None)
    if before is not None:
        st.session_state.setdefault("texts", {})[offer(before["model"]).memory] = page().kept["text"]
        st.session_state.stays = before["model"]
        open_model(before["model"])
    redraw("lab")


def open_model(name: str) -> None:
    """Shows another model with its first text, where this visitor may open it; else says why not."""
    if model_field.can_open(name):
        page().put({"model": name})
        switch_model()


def put_back(inputs: Inputs) -> None:
    """Asks for these inputs again, and for no head of them."""
    page(inputs.model).put({"model": inputs.model, "text": inputs.text, **inputs.settings})
    look_at()


def open_contrast(act: dict[str, Any]) -> None:
    """Shows the model that the open one is to be compared with: the same text, the same view of it.

    Where the head on view is the one that the model opens with, the other's own such head is shown. A press
    that comes a second time, before the other model was there to be seen, asks for what is open already.
    """
    current = offer()
    other = contrast_of(current)
    if other is None or other.name != act["model"]:
        return
    view = {name: value for name, value in state.view_of(act).items() if name != "key"}
    place = ("stack", "layer", "head")
    if all(view.get(name) == current.story.get(name) for name in place):
        view |= {name: other.story[name] for name in place} | {"heads": (other.story["head"],)}
    page().put({"model": other.name})
    switch_model()
    look_at(**view)


def can_stand_beside() -> bool:
    """Whether there is a page that shows what is open beside something else."""
    return not in_force().kiosk and offer().reads not in ("nothing", "any picture")


def beside_link(act: dict[str, Any]) -> dict[str, str]:
    """The link to that page, with the model, the text and the head that are open."""
    now = inputs_now()
    place = {name: str(act[name])[:MOST_SAID] for name in ("stack", "layer", "head")}
    settings = {"with": urlencode(now.overrides)} if now.overrides else {}
    other = swap_of(now)[1]
    # Without another text that is known to matter, another head of the same text is compared.
    second = {"text2": other} if other else {"differs": "head", "head2": str(int(place["head"] == "0"))}
    return {"model": now.model, "text": now.text, **second, **settings, **place}


def contrast_of(current: Offer) -> Offer | None:
    """The model to compare one with, where this visitor may open it."""
    name = current.contrast.get("model", "")
    return offer_of(name) if on_offer.may_open(name) else None


def take_advice(advice: Advice) -> None:
    """Sets what suits the text better, and resets what else was set for it; the text stays."""
    current = page()
    if advice.setting in current.params:  # the button may be pressed as it vanishes, with another model
        current.put(
            {s.name: s.default for s in offer().settings if s.of_text} | {advice.setting: advice.value}
        )
    redraw("lab")


def reset() -> None:
    """Sets everything as on a first visit."""
    session, first = st.session_state, page(DEFAULT)
    first.kept.clear()
    first.put(first.defaults())
    look_at()
    for name in ("widened", "stays"):
        session.pop(name, None)
    session.reset_count = session.get("reset_count", 0) + 1


def read_text(text: str) -> None:
    """Puts a text in, and resets what was set for the text before."""
    current = page()
    current.put({s.name: s.default for s in offer().settings if s.of_text})
    current.edit("text", text)


def replace_word(unknown: dict[str, Any], word: str) -> None:
    """Puts a known word where the unknown one stands; `unknown` says in which text and where.

    The button may be pressed as it vanishes: with another model, or another text.
    """
    where, start, end = (unknown[name] for name in ("where", "start", "end"))
    text = st.session_state.get(where)
    if isinstance(text, str) and text[start:end].lower() == unknown["word"].lower():
        st.session_state[where] = text[:start] + word + text[end:]
    else:
        refuse(f"{unknown['word']!r} is not there any more, so it was not replaced by {word!r}.")
    redraw("lab")


def model_controls() -> None:
    """The column beside the stage."""
    current, current_offer = page(), offer()
    names = [*on_offer.models(), *on_offer.of_transformers(), *on_offer.own()]
    names += [current.kept["model"]] if current.kept["model"] not in names else []
    current.draw("model", options=names, format_func=lambda name: offer(name).title, then=switch_model)
    model_field.field(open_model, own_files.tensors_field)
    if current_offer.summary:
        st.caption(plain(say(current_offer.summary)))
    if current_offer.sizes:
        kind, layers, heads, width, positions = map(
            current_offer.sizes.get, ("kind", "n_layers", "n_heads", "d_model", "positions")
        )
        scheme = f", positions {say(positions)}" if positions else ""
        sizes = f"{kind}: {layers} layers, {heads} heads, d_model {width}{scheme}"
        st.caption(plain(say(sizes[:MOST_SAID])))
    columns = st.columns(2) if len(current_offer.settings) > 4 else [st.container()]
    for at, setting in enumerate(current_offer.settings):
        _draw(current, setting, columns[at % len(columns)])
    st.button("Reset", on_click=reset, help="Back to the first sentence and its head", width="stretch")
    say_count()


def _draw(current: State, setting: Setting, place: DeltaGenerator) -> None:
    """The widget of one setting."""
    changes: dict[str, Any] = {}
    if setting.rule.most:
        of = current.kept[setting.of] if setting.of else ""
        example, meaning = setting.arguments.get(of, ("", ""))
        off = bool(setting.of) and not example
        changes = {"placeholder": example or setting.more.get("placeholder"), "disabled": off}
        changes |= {"help": f"{example} = {meaning}"} if example else {}
    current.draw(setting.name, place, then=lambda: _changed(setting), **changes)


def _changed(setting: Setting) -> None:
    """Resets what depends on the setting that has changed: its argument, and what the model wrote."""
    current, target = page(), st.session_state.get("last_target")
    depend = {s.name: s.default for s in offer().settings if s.of == setting.name}
    if setting.turns and target:
        depend |= {s.name: s.default for s in offer().settings if s.of_text and s != setting}
        current.edit("text", target)
    if depend:
        current.put(depend)
    else:
        _redraw_figure()


def _redraw_figure() -> None:
    """Ends the callback of a control on which no other control depends."""
    if not st.session_state.get("problems"):  # a refused value has to go from its control
        redraw("figure")


def _text_changed() -> None:
    """Redraws the figure; of the text's row only an example is seen to be chosen, or no more."""
    if read_wider(page().kept["text"]):
        redraw("lab")
    elif st.session_state.get("example") == chosen_example():
        _redraw_figure()


def chosen_example() -> str | None:
    """The text, where it is one of the model's examples."""
    text = page().kept["text"]
    return text if any(example["text"] == text for example in offer().examples) else None


def text_input() -> None:
    """Where a person says what the model reads."""
    current_offer, current = offer(), page()
    if current_offer.reads == "nothing":
        st.caption(current_offer.label)
        return
    if current_offer.reads == "any picture":
        own_files.picture_field(current.kept["text"], read_text)
        return
    if current_offer.reads != "picture":
        current.draw("text", then=_text_changed)
        return
    typed, picture = current.kept["text"], Page("explore.picture", PICTURE)
    picture.put({"picture": _number(typed) or 1})

    def choose() -> None:
        current.put({"text": str(picture.kept["picture"])})
        _text_changed()

    picture.draw("picture", then=choose)


def _number(typed: str) -> int:
    """The picture that a text names by its number; 0 where it names none."""
    is_number = typed.isdecimal() and len(typed) <= len(str(MOST_PICTURES))
    return int(typed) if is_number and int(typed) < MOST_PICTURES else 0


def swap_of(inputs: Inputs) -> tuple[str, str]:
    """(label, text) of the button that shows another text: this one with a word changed that reverses its
    meaning, or else the next example. ("", "") where there is none.
    """
    current, words = offer(inputs.model), inputs.text.split()
    if current.reads == "picture":
        return "next picture", str(_number(inputs.text) + 1)
    for old, new in current.swaps.items():
        if old in words:
            return f"{old} → {new}", " ".join(new if word == old else word for word in words)
    texts = [example["text"] for example in current.examples]
    after = texts[(texts.index(inputs.text) + 1) % len(texts)] if inputs.text in texts else current.text
    return ("next example", after) if after != inputs.text else ("", "")


def other_of(inputs: Inputs) -> str:
    """The text that positions are first patched from, one to one: the text with a word changed, the next
    picture, or the text itself, for the visitor to change a word of.
    """
    label, text = swap_of(inputs)
    return inputs.text if label in ("", "next example") else text


# What Explore says of a text that the model cannot read as it was meant, each remedy one press away.

MOST_OFFERED = 6
MOST_LISTED = 120
"""Characters of the unknown words after those that are offered another."""


def draw_advice(advice: Advice | None, unknown: list[dict[str, Any]]) -> None:
    """The setting that would suit the text better; else the words that are not known, with buttons for the
    nearest ones that are. Before them, whether another model reads the text because of its words.
    """
    widened = st.session_state.get("widened")
    if widened and offer(widened["model"]).wider == offer().name:
        same = page().kept["text"] == widened["text"]
        _widened(offer(widened["model"]), widened["lacking"] if same else [])
    if advice is None and not unknown:
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        if advice is not None:
            rule = page().params[advice.setting].rule
            values = (page().kept[advice.setting], advice.value)
            read, better = (rule.names.get(value, str(value)) for value in values)
            st.markdown(plain(say(f"{advice.because} They are read as {read}:")))
            st.button(f"read {better}", key="advice", on_click=take_advice, args=(advice,))
            return
        st.markdown("Not in the model's vocabulary, read as `<unk>`:")
        for at, each in enumerate(unknown[:MOST_OFFERED]):
            st.text(f"“{each['word']}” " + ("→" if each["suggestions"] else "(nothing near it is known)"))
            for word in each["suggestions"]:
                key = f"suggestion.{at}.{word}"
                st.button(plain(word), key=key, on_click=replace_word, args=(each, word))
        if more := [each["word"] for each in unknown[MOST_OFFERED:]]:
            listed = ", ".join(f"“{word}”" for word in more)
            excerpt = listed if len(listed) <= MOST_LISTED else f"{listed[:MOST_LISTED]}…"
            st.text(f"and {len(more)} more: {excerpt}")


def _widened(before: Offer, lacking: list[str]) -> None:
    """Why another model reads this text, with the way back and the way to both."""
    listed = ", ".join(f"“{word}”" for word in lacking[:MOST_OFFERED])
    more = f" and {len(lacking) - MOST_OFFERED} more words" if len(lacking) > MOST_OFFERED else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        why = f"“{before.title}” has no word for {listed}{more}: " if lacking else ""
        alert(f"{why}“{offer().title}” reads this.", width="content")
        st.button(f"back to “{before.title}”", key="widened.back", on_click=read_all_the_same)
        if can_stand_beside():
            st.button("see both", key="widened.both", on_click=see_in_both)


def see_in_both() -> None:
    """Opens the text in both models, side by side."""
    before = st.session_state.get("widened")
    if before is not None:
        link = {"model": page().kept["model"], "text": page().kept["text"], "differs": "model"}
        st.session_state.leave_for_beside = link | {"model2": before["model"]}


# What Explore offers with a trained model: to mask words, or to let it go on writing.

MASK = "[MASK]"
MOST_WORDS = 60
MOST_NEW = in_force().new_tokens
HEAT = "Logits are divided by it before the softmax; 0: always the most probable next token"
HALF = "At most half of what the model can read"
WRITING = Page(
    "explore.writing",
    {
        "temperature": Field(0.8, number(0, 2), "Temperature", HEAT, control="slider", more={"step": 0.1}),
        "n_new": Field(40, whole(1, MOST_NEW), "Tokens to write", HALF, control="slider"),
    },
)


def draw_masks() -> None:
    """The words of the text: a click masks one, another shows it again."""
    words = st.session_state.text.split()[:MOST_WORDS]
    hidden = _hidden()
    st.session_state.masked = [at for at, word in enumerate(words) if word == MASK]
    st.pills(
        "Click a word to mask it; what the model would write there is in the Output view.",
        range(len(words)),
        selection_mode="multi",
        wrap=True,
        key="masked",
        format_func=lambda at: plain(hidden.get(at, words[at])) if at < len(words) else "",
        on_change=_mask,
    )
    guard_choice("masked", "Words", range(len(words)), st.session_state.masked)


def _hidden() -> dict[int, str]:
    """The words behind the masks of the text that is shown, by place; a typed [MASK] hides none."""
    masked = st.session_state.get("hidden_words", {})
    return masked.get("words", {}) if masked.get("text") == st.session_state.text else {}


def _mask() -> None:
    words, hidden = st.session_state.text.split(), _hidden()
    chosen = set(st.session_state.masked)
    hidden |= {at: word for at, word in enumerate(words) if at in chosen and word != MASK}
    masked_words = [hidden.get(at, word) for at, word in enumerate(words)]
    text = " ".join(MASK if at in chosen else word for at, word in enumerate(masked_words))
    st.session_state.text = text
    st.session_state.hidden_words = {"text": text, "words": hidden}
    redraw("lab")


def draw_continuation() -> None:
    """Lets the model write on; its words join the text, which is cut in front to what the model can read."""
    WRITING.take()
    for name in WRITING.params:
        WRITING.draw(name)
    st.button("Continue", on_click=_continue, width="stretch")


def _continue() -> None:
    session = st.session_state
    session.n_drawn = session.get("n_drawn", -1) + 1
    inputs, most = inputs_now(), WRITING.kept["n_new"]
    chance = {"temperature": WRITING.kept["temperature"], "seed": session.n_drawn}

    def write() -> str:
        server_load.check_memory()
        lm = cache.model(inputs.model, inputs.settings)
        at_once = max(1, lm.max_len // 2)  # the other half is what it goes on from
        more = lm.generate(inputs.text, max_new_tokens=min(most, at_once), **chance)
        return lm.fitted(inputs.text, more)

    try:
        read_text(cache.on_worker(write))
    except ValueError as error:
        refuse(str(error))
