"""How many inputs each test tries: a few, always the same, in `make test`; 3,000 new ones in `make fuzz`.
Meanwhile at most 1,024 files may be open, as in most shells.
"""

import os
import resource

from hypothesis import HealthCheck, settings

ODD = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture, HealthCheck.filter_too_much]
usual = settings(deadline=None, suppress_health_check=ODD)
settings.register_profile("short", usual, max_examples=12, derandomize=True, database=None)
settings.register_profile("long", usual, max_examples=int(os.environ.get("FUZZ", 0)) or 1)
settings.load_profile("long" if "FUZZ" in os.environ else "short")
_, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(1_024, _hard), _hard))
