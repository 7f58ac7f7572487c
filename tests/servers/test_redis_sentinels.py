"""The service with a Redis master behind sentinels, over TLS: its processes follow a failover."""

import socketserver
import threading

import pytest
import requests
from django.core.exceptions import ImproperlyConfigured
from kombu import Connection
from redis.exceptions import RedisError

from config.environment.redis_urls import broker_options, broker_url, parse_sentinels
from config.redis.connection import check_redis
from tests.processes.own_environment import database_url
from tests.processes.service_processes import HOST
from tests.processes.template_database import own_database
from tests.processes.waiting import wait_for
from tests.servers.redis_servers import MASTER, redis_with_sentinels
from tests.servers.whole_service import findings, whole_service

pytestmark = pytest.mark.slow


@pytest.fixture
def failing_sentinel():
    """Yield a listener that ends each connection; `clients` has their addresses."""

    class End(socketserver.BaseRequestHandler):
        def handle(self):
            self.server.clients.append(self.client_address)

    with socketserver.ThreadingTCPServer((HOST, 0), End) as server:
        server.clients = []
        threading.Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


def test_a_sentinel_that_fails_is_called_once_for_each_connection(failing_sentinel, settings):
    settings.REDIS_URL = "redis://My-Master/0"
    settings.REDIS_SENTINELS = parse_sentinels(
        (f"redis://{HOST}:{failing_sentinel.server_address[1]}",), "redis://My-Master/0"
    )
    with pytest.raises(ImproperlyConfigured) as failed:
        check_redis()
    assert str(failed.value) == (
        "REDIS_URL: no response from the server (no sentinel of REDIS_SENTINELS returned an address of the master"
        " My-Master, the host of REDIS_URL)"
    )
    assert len(failing_sentinel.clients) == 1
    url, options = broker_url(settings.REDIS_URL, settings.REDIS_SENTINELS), broker_options(settings.REDIS_SENTINELS)
    with Connection(url, transport_options=options) as broker, pytest.raises(RedisError):
        broker.transport.establish_connection().default_channel.client.ping()
    assert len(failing_sentinel.clients) == 2


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
