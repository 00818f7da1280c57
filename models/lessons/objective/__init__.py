"""What training optimises: targets and distributions, cross-entropy, its gradient, and the learning rate."""
