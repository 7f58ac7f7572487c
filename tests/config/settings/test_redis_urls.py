"""URLs of Redis, its sentinels and Celery's broker."""

import pytest
from django.core.exceptions import ImproperlyConfigured

from config.environment.redis_urls import Sentinels, broker_options, broker_url, parse_sentinels

MASTER = "redis://:p%40ss@My-Master/2"


@pytest.mark.parametrize(
    "urls",
    [
        ("s3cret:26379",),
        ("unix:///s3cret",),
        ("redis://",),
        ("redis://s3cret:99999",),
        ("redis://s3cret/1",),
        ("redis://s3cret?db=1",),
        ("redis://:s3cret@one", "redis://:other@two"),
        ("rediss://s3cret", "redis://two"),
    ],
)
def test_it_refuses_sentinels_without_showing_them(urls: tuple[str, ...]) -> None:
    with pytest.raises(ImproperlyConfigured, match="REDIS_SENTINELS has a value that can't be used") as refused:
        parse_sentinels(urls, MASTER)
    assert "s3cret" not in str(refused.value)


def test_it_refuses_sentinels_of_a_socket() -> None:
    with pytest.raises(ImproperlyConfigured, match="REDIS_SENTINELS"):
        parse_sentinels(("redis://one",), "unix:///run/redis.sock")


def test_the_host_of_the_server_is_the_name_of_the_master() -> None:
    urls = ("rediss://:a%20b@one?ssl_ca_certs=/ca.pem", "rediss://:a%20b@two:7000?ssl_ca_certs=/ca.pem")
    sentinels = parse_sentinels(urls, MASTER)
    options = (("ssl_ca_certs", "/ca.pem"), ("password", "a b"), ("ssl", True))
    assert sentinels == Sentinels(master="My-Master", addresses=(("one", 26379), ("two", 7000)), options=options)
    assert broker_url(MASTER, sentinels) == "sentinel://:p%40ss@one:26379/2;sentinel://:p%40ss@two:7000/2"
    assert broker_options(sentinels)["master_name"] == "My-Master"


@pytest.mark.parametrize(
    ("redis_url", "broker"),
    [
        ("redis://:pass@host:6379/1", "redis://:pass@host:6379/1"),
        ("unix:///run/redis.sock?db=3", "redis+socket:///run/redis.sock?virtual_host=3"),
        ("rediss://host/", "rediss://host/?ssl_cert_reqs=required"),
        ("rediss://host?ssl_cert_reqs=none", "rediss://host?ssl_cert_reqs=none"),
    ],
)
def test_the_broker_gets_the_server_and_validates_certificates(redis_url: str, broker: str) -> None:
    sentinels = parse_sentinels((), redis_url)
    assert sentinels is None
    assert broker_url(redis_url, sentinels) == broker
    assert broker_options(sentinels) == {}
