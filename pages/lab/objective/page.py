"""What training optimises: targets, cross-entropy, its gradient, and the learning rate."""

from pages.lab import page
from pages.lab.lesson import LabPage, Part
from pages.lab.objective import gradient, letters, loss, targets, warmup
from pages.lab.objective.inputs import Inputs

PAGE = LabPage(
    name="objective",
    title="What training optimises",
    inputs=Inputs,
    parts=(
        Part(
            name="targets",
            label="Targets and training",
            fields=("step", "steps", "rate", "smoothing", "seed"),
            lesson=targets.lesson,
            controls=targets.controls,
            tries=targets.TRIES,
            questions=targets.questions,
            scrub="step",
        ),
        Part(
            name="loss",
            label="Cross-entropy and KL",
            fields=("eps", "word", "q"),
            lesson=loss.lesson,
            controls=loss.controls,
            tries=loss.TRIES,
            questions=loss.questions,
            scrub="eps",
        ),
        Part(
            name="letters",
            label="Perplexity and bits",
            fields=("text",),
            lesson=letters.lesson,
            controls=letters.controls,
            tries=letters.TRIES,
            questions=letters.questions,
        ),
        Part(
            name="gradient",
            label="The gradient p − y",
            fields=("walked", "logits", "word", "descent", "smoothing"),
            lesson=gradient.lesson,
            controls=gradient.controls,
            tries=gradient.TRIES,
            questions=gradient.questions,
            scrub="walked",
        ),
        Part(
            name="warmup",
            label="Warm-up",
            fields=("warmup", "d_model", "total", "norm", "seed"),
            lesson=warmup.lesson,
            controls=warmup.controls,
            tries=warmup.TRIES,
            questions=warmup.questions,
            scrub="warmup",
        ),
    ),
)

page.run(PAGE)
