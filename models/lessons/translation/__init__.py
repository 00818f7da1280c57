"""The translator at work: stacks, three attentions, search, sampling, teacher forcing."""
