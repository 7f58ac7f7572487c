"""Redis over TLS by an authority of one's own, as cache, counter and broker."""

from pathlib import Path

import pytest
from kombu.exceptions import OperationalError
from redis.exceptions import ConnectionError

from config.celery import app
from config.environment.redis_urls import broker_url
from config.redis import rate_limits
from config.redis.connection import redis_client
from tests.processes.service_processes import HOST
from tests.servers.redis_servers import ENCODED_PASSWORD, redis_with_tls

pytestmark = pytest.mark.slow


def test_client_and_broker_verify_the_certificate(settings):
    with redis_with_tls() as server:
        without = f"rediss://:{ENCODED_PASSWORD}@{HOST}:{server.port}/1"
        settings.REDIS_URL = f"{without}?ssl_ca_certs={Path(server.place)}/ca.pem"
        assert rate_limits.hit("tls", limit=1, seconds=60).allowed
        assert not rate_limits.hit("tls", limit=1, seconds=60).allowed
        with app.connection_for_write(broker_url(settings.REDIS_URL, None)) as broker:
            broker.default_channel.client.rpush("queue", "message")
        assert redis_client().lrange("queue", 0, -1) == [b"message"]

        settings.REDIS_URL = without
        with pytest.raises(ConnectionError, match="certificate verify failed"):
            redis_client().ping()
        with (
            app.connection_for_write(broker_url(without, None)) as broker,
            pytest.raises(OperationalError, match="certificate verify failed"),
        ):
            broker.default_channel.client.ping()
