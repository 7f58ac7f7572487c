"""A pytest plugin: real servers for the tests, started before Django reads its settings.

They have a directory of their own, so that tests never meet the data of `make run`.
"""

import os

from config import embedded
from config.env import BASE_DIR

os.environ.setdefault("LAUNCHBOARD_LOCAL", str(BASE_DIR / ".local" / "test"))

# pytest-xdist calls its workers gw0, gw1, ...; each has a numbered database of Valkey, as pytest-django gives each a
# PostgreSQL database. The controlling process keeps number 0.
_worker = os.environ.get("PYTEST_XDIST_WORKER", "")
os.environ["LAUNCHBOARD_REDIS_DB"] = str(int(_worker.removeprefix("gw")) + 1 if _worker else 0)

embedded.hold(durable=False)
