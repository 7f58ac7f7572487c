"""A pytest plugin: real servers for the tests, started before Django reads its settings.

They have their own directory, so that tests never meet `make run` data.
"""

import os
import sys

from config.environment.variables import BASE_DIR
from development.servers import bundled
from tests.processes.own_environment import process_number

os.environ.setdefault("LAUNCHBOARD_LOCAL", str(BASE_DIR / ".local" / "test"))

# Tests start hundreds of processes, which reuse compiled modules.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Tests make more calls in a minute than any client; limit tests turn them on.
_USERS_LIMITS = ("PRETOKEN", "SAVE_TOKEN", "SAVE_TOKEN_ANONYMOUS", "LOGIN")
_LIMITS = ("PUBLIC", "PAGES", "KEYED", "INDEX", "DEPLOY", "AGENT_EVENTS", *_USERS_LIMITS)
for _limit in _LIMITS:
    os.environ[f"RATE_LIMIT_{_limit}"] = "0"
os.environ["OVERRIDE_RATE_LIMIT_ADMIN_VERIFY"] = "0"

# Searches on a busy machine are slow; time limit tests set their own.
os.environ["SEARCH_TIMEOUT_MS"] = "60000"

# A short interval between final block checks.
os.environ["OVERRIDE_FOLLOW_VERIFY_SECONDS"] = "0.1"

# Tests for market data and profiles set a stand-in; no test calls a provider on the Internet.
os.environ["MARKET_PROVIDER_CHAINS"] = ""
os.environ["SOCIAL_API_KEY"] = os.environ["FARCASTER_HUB_URL"] = ""

# Workers inherit the controlling process's.
os.environ["REDIS_URL"] = ""
# A package of the release tools, which jsonschema imports for formats that no schema has: it takes seconds.
sys.modules["rfc3987_syntax"] = None

bundled.ensure_running(durable=False)
# Each of pytest-xdist's workers has a numbered Valkey database, as pytest-django gives each a PostgreSQL database.
os.environ["REDIS_URL"] = bundled.redis_url().replace("?db=0", f"?db={process_number()}")
