"""The transformer itself: attention, masks, positions, layers, trace, decoding."""
