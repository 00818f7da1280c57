"""Inside the block: what a layer computes, what depth does to it, and what the stream says early."""
