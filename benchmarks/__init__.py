"""Every figure that the README quotes, printed by the module that measures it."""

import models as models  # before torch, whose threads it keeps from spinning, as wherever training runs
