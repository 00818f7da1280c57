"""Every figure that the README quotes, printed by the module that measures it."""

# Before torch, whose threads it keeps from spinning, as wherever training runs.
from attention_lab import models as models
