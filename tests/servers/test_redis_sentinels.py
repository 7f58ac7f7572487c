"""The service with a Redis master behind sentinels, over TLS: its processes follow a failover."""

import pytest
import requests

from tests.processes.own_environment import database_url
from tests.processes.service_processes import HOST
from tests.processes.template_database import own_database
from tests.processes.waiting import wait_for
from tests.servers.redis_servers import MASTER, redis_with_sentinels
from tests.servers.whole_service import findings, whole_service

pytestmark = pytest.mark.slow


def test_all_processes_follow_a_failover(tmp_path):
    with own_database() as name, redis_with_sentinels() as redis:
        servers = {"DATABASE_URL": database_url(name), **redis.environment}
        with whole_service(tmp_path, servers) as running:
            assert running.use_everything()["status"] == "indexed"
            # A busy machine misses the short deadlines of the workers' replies.
            assert findings(running.environment, "error").keys() <= {"workers"}
            redis.fail_over()
            assert running.use_everything()["status"] == "indexed"
            ready = f"http://{HOST}:{running.environment['PORT']}/readyz"
            wait_for(lambda: requests.get(ready, timeout=60).status_code == 200)
            warned = findings(running.environment, "warning")["redis"]
            assert warned == f"3 of 3 sentinels respond; {MASTER} has 0 replicas that respond."
