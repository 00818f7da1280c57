"""What a run's settings are called on Train, and what they do."""

LABELS = {
    "n_layers": "Layers",
    "n_heads": "Heads",
    "max_len": "Context",
    "d_ff": "d_ff (0: 4 ×)",
    "threads": "Threads (0: all)",
    "normalizer": "Scores to weights",
    "learning_rate": "Learning rate",
    "warmup_steps": "Warm-up steps",
    "batch_size": "Batch",
    "clip": "Clip gradients at",
    "decay": "Decays",
    "memory": "Memory of transformer-xl",
    "evaluation_memory": "Its memory when scored (0: as trained)",
}
HELP = {
    "n_layers": "Layers of each stack",
    "d_model": "Width of the residual stream",
    "d_ff": "Width of the feed-forward layers; 0 is four times d_model",
    "max_len": "Positions that the model reads at once",
    "positions": "How the model knows where a token stands",
    "norm": "Whether vectors are normalised before or after each sublayer",
    "normalizer": "How scores become weights; with softmax, a row sums to 1 even where no key is of use",
    "dropout": "Share of activations that is dropped while training",
    "steps": "Updates of the weights",
    "batch_size": "Examples of one step",
    "accumulation": "Pieces in which a batch is read: less memory, the same gradient",
    "learning_rate": "The highest rate; the schedule says when it is reached",
    "schedule": "How the rate rises and falls; warm-up is the schedule of the paper (5.3)",
    "decay": "What weight decay draws to 0: matrices leaves norms and biases free, as GPT-2 and nanoGPT do",
    "clip": "The length to which longer gradients are cut; 0 cuts none",
    "final_rate": "The share of the highest rate at which the cosine schedule ends",
    "label_smoothing": "Share of each target that is spread over all outputs (the paper's 5.4)",
    "precision": "The number format of matrix products; weights stay float32",
    "compile": "Uses torch.compile, which starts slowly and then trains faster",
    "gradient_checkpointing": "Computes activations twice instead of keeping them: less memory, more time",
    "threads": "Threads of the CPU; 0 takes every core",
    "workers": "Processes of a Ray cluster that share each batch; without a cluster, one reads it all",
    "sharding": "Between workers: ddp gives each the whole model, fsdp each a part of every layer",
    "seed": "The same seed gives the same numbers again on the same CPU",
    "validate_every": "Steps between validations; 0 is about 20 times a run",
    "held_out": "Examples that validation reads",
    "n_snapshots": "How often the heads are kept, for scrubbing",
    "checkpoint_seconds": "The seconds between two checkpoints",
}
_AS_BERT = "what answers at each token can be exported as a BERT only with norm post and embedding norm"
ENCODER_HELP = {
    "norm": f"{HELP['norm']}; {_AS_BERT}",
    "embedding_norm": f"Normalises what enters the first layer; {_AS_BERT}",
}
"""What some settings do, of tasks whose model is an encoder."""


def label_of(name: str) -> str:
    """A field's name as a label: gradient_checkpointing becomes Gradient checkpointing; d_model stays."""
    return LABELS.get(name) or (name if name.startswith("d_") else name.replace("_", " ").capitalize())
