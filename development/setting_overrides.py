"""The service's settings, for tests, benchmarks and `make run`; `OVERRIDE_<name>` replaces one, as JSON.

Settings without an environment variable have one value in each installation. A started process has another value with
this module in DJANGO_SETTINGS_MODULE. Settings that are computed from the replaced one keep their value.
"""

import json
import os

from config import settings

_PREFIX = "OVERRIDE_"

globals().update(
    {name: value for name, value in vars(settings).items() if name.isupper()}
    | {name.removeprefix(_PREFIX): json.loads(text) for name, text in os.environ.items() if name.startswith(_PREFIX)}
)
