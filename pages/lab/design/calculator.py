"""Part 3: parameters, operations and memory of a whole model."""

from dataclasses import replace

import numpy as np

from models.engine import size
from models.engine.size import count_parameters
from models.lessons.design import flops
from pages.lab.design import calculator_board as board
from pages.lab.design import sizes
from pages.lab.design.inputs import Inputs
from pages.lab.design.sizes import asked, inputs_of
from pages.lab.lesson import Lesson, Part, Question, Shape, Try
from viz_core.boards import Board, Scrub

SEE = (
    "Formulas count what a model of these sizes has: its **parameters**, beside the published count; the "
    "**operations** of a forward pass, × and + counted as two; and its **memory** in float32 (activations to "
    "within a quarter). Pick a published model, or change any size. **Drag the slider to longer sequences.**"
)
TRIES = (
    Try("BERT large", inputs_of("bert-large")),
    Try("the paper's base", inputs_of("base")),
    Try("GPT-2 small, twice as wide", inputs_of("gpt2") | {"d_model": 1_536, "d_ff": 6_144}),
)


def lesson(inputs: Inputs) -> Lesson:
    found = asked(inputs)
    config, counted = found.config, size.count_parameters(found.config)
    lengths = board.lengths_to(config.max_len)
    passes = [flops.forward(config, t) for t in lengths]
    h, d_head, d, t = config.n_heads, config.head_size, config.d_model, config.max_len
    return Lesson(
        see=SEE,
        board=Board(
            rows=[
                [board.parameters(counted), board.table(found, counted)],
                [
                    board.operations(found, lengths, passes),
                    board.training(inputs, found, lengths),
                    board.inference(inputs, found, lengths),
                ],
                [board.facts(found, lengths, passes)],
            ],
            notice=board.notices(found, counted, lengths, passes),
            scrub=Scrub(
                field="tokens", label="tokens t", values=np.array(lengths), speed=2,
                words=[f"{t:,}" for t in lengths],
            ),
        ),
        formula=(
            r"\begin{gathered}\text{matrices of a layer: } 4\,d_{model}\,h\,d_{head} + 2\,d_{model}\,d_{ff}\\"
            r"\text{forward, per token: } 2N + 4\,n_{layers}\,t\,h\,d_{head} + 2\,d_{model}\,|V|\\"
            r"N\approx 12\,n_{layers}\,d_{model}^2,\quad\text{training} = 3\times\text{forward}\end{gathered}"
        ),
        sizes=(
            rf"n_{{layers}}={config.n_layers},\; h={h},\; d_{{head}}={d_head},\; d_{{model}}={d},\; "
            rf"d_{{ff}}={config.ff_size},\; |V|={config.vocab_size}"
        ),
        shapes=(
            Shape(r"\text{embedding}", "token, d_model", (config.vocab_size, d)),
            Shape(r"W_Q, W_K, W_V", "d_model, h · d_head", (d, h * d_head)),
            Shape(r"W_O", "h · d_head, d_model", (h * d_head, d)),
            Shape(r"W_1", "d_model, d_ff", (d, config.ff_size)),
            Shape(r"W_2", "d_ff, d_model", (config.ff_size, d)),
            Shape(r"\text{cached keys}", "sequence, head, t, d_head", (inputs.batch, h, t, d_head)),
        ),
        code=(
            size.count_parameters, size.attention_parameters, size.feed_forward_parameters,
            size.norm_parameters, flops.forward, flops.kaplan_parameters, flops.kaplan_forward,
            flops.training_memory, size.activation_bytes, flops.cache_bytes,
        ),
    )  # fmt: skip


def questions() -> tuple[Question, ...]:
    small = asked(Inputs(**inputs_of("gpt2"))).config
    wide = asked(Inputs(**inputs_of("gpt2") | {"d_model": 1_536, "d_ff": 6_144})).config
    now, wider = count_parameters(small), count_parameters(wide)
    deep = count_parameters(replace(small, n_layers=2 * small.n_layers))
    deeper = (1.3, 1.7, 2.0)
    grown = round(flops.kaplan_parameters(wide) / flops.kaplan_parameters(small))
    lengths = (1_024, 6_700, 67_000)
    shares = [(passed := flops.forward(small, t)).pairs / passed.total for t in lengths]
    times = {2: "twice as many", 4: "four times as many", 8: "eight times as many"}
    return (
        Question(
            "GPT-2 small gets twice as many layers. How many times as many parameters has it then?",
            tuple(f"about {times:g} times" for times in deeper),
            min(range(3), key=lambda at: abs(deeper[at] - deep.total / now.total)),
            f"{deep.total / now.total:.2f} times: {deep.total / 1e6:.0f} million instead of "
            f"{now.total / 1e6:.0f}. Every layer brings its own matrices, but the embedding, "
            f"{now.embedding / now.total:.0%} of all before, stays as it is.",
        ),
        Question(
            "GPT-2 small doubles d_model and d_ff. How many parameters do its layers have?",
            tuple(times.values()),
            list(times).index(grown),
            f"N grows {grown} times, all parameters {wider.total / now.total:.1f} times: both sides of a "
            "layer's matrices double, but only one side of the embedding.",
        ),
        Question(
            "At which length would q · k and weights · v take half of GPT-2 small's forward pass?",
            tuple(f"{t:,} tokens" for t in lengths),
            min(range(3), key=lambda at: abs(shares[at] - 0.5)),
            ", ".join(f"{share:.0%} at {t:,} tokens" for t, share in zip(lengths, shares, strict=True))
            + ": up to thousands of tokens, multiplying by the weight matrices costs more than the pairs.",
        ),
    )  # fmt: skip


PART = Part("calculator", "Calculator", sizes.CONTROLS, lesson, TRIES, questions, scrub="tokens")
