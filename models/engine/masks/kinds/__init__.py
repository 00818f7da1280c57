"""The masks that have a name, a file each; every file of this folder is imported and calls `register`.

A new mask is a new file here, such as checkered.py:

    ABOUT = MaskName(title="checkered")
    register("checkered", lambda n, argument: ...)
"""

from ....registry import import_all

import_all(__name__, __path__)
