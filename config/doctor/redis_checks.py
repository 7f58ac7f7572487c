"""Redis or Valkey check for `manage.py doctor`."""

from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from redis.exceptions import RedisError

from config.doctor.findings import Finding, Level, unreachable
from config.redis.connection import check_redis, redis_client

_OLDEST = {"Redis": 7, "Valkey": 8}
_MUCH = 0.9


def server(now: datetime) -> Iterator[Finding]:
    """Yield version, eviction policy and memory, and the sentinels' state."""
    try:
        check_redis()
    except ImproperlyConfigured as error:
        action = "Repair Redis or the setting; meanwhile nothing is enqueued, and calls pass without rate limits."
        yield unreachable(error, action=action, guide="repairing.md#runbook-a-process-or-server-fails")
        return
    server_info: dict[str, Any] = redis_client().info()
    name = "Valkey" if "valkey_version" in server_info else "Redis"
    version = str(server_info.get("valkey_version", server_info["redis_version"]))
    is_old = int(version.split(".")[0]) < _OLDEST[name]
    yield Finding(
        level=Level.ERROR if is_old else Level.OK,
        summary=f"{name} {version} responds, with {server_info['used_memory_human']} in use.",
        action=f"Install {name} {_OLDEST[name]} or newer." if is_old else "",
        guide="running.md#requirements",
    )
    policy, limit = server_info.get("maxmemory_policy", "unknown"), server_info.get("maxmemory", 0)
    is_evicting = policy != "noeviction"
    yield Finding(
        level=Level.ERROR if is_evicting else Level.OK,
        summary=f"maxmemory-policy is {policy}.",
        action="Set maxmemory-policy noeviction: an evicted message is a task that waits." if is_evicting else "",
        guide="running.md#requirements",
    )
    if limit and server_info["used_memory"] > _MUCH * limit:
        yield Finding(
            level=Level.WARNING,
            summary=f"It uses more than {_MUCH:.0%} of maxmemory.",
            action="Raise maxmemory: writes fail once it is reached.",
            guide="running.md#requirements",
        )
    if settings.REDIS_SENTINELS:
        yield _sentinels(settings.REDIS_SENTINELS.master)


def _sentinels(master: str) -> Finding:
    """Return how many sentinels respond, and how many replicas one of them could promote."""
    pool: Any = redis_client().connection_pool
    clients = pool.sentinel_manager.sentinels
    counts = []
    for client in clients:
        # A sentinel that does not respond is counted below.
        with suppress(RedisError):
            counts.append(sum(not replica["is_sdown"] for replica in client.sentinel_slaves(master)))
    replicas = max(counts, default=0)
    is_complete = len(counts) == len(clients) and replicas > 0
    return Finding(
        level=Level.OK if is_complete else Level.WARNING,
        summary=f"{len(counts)} of {len(clients)} sentinels respond; {master} has {replicas} replicas that respond.",
        action="" if is_complete else "Repair REDIS_SENTINELS or the replica: the next failover may fail.",
        guide="running.md#requirements",
    )
