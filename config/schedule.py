"""What beat enqueues, and how often."""

from typing import Any


def _every(seconds: float, task: str) -> dict[str, Any]:
    # What waits longer than until the next one is of no use: no backlog of them while workers are down.
    return {"task": task, "schedule": seconds, "options": {"expires": seconds}}


SCHEDULE = {
    "sweep-index-requests": _every(5.0, "tokens.tasks.sweep_index_requests"),
    "confirm-index-requests": _every(30.0, "tokens.tasks.confirm_index_requests"),
    "refresh-social-profiles": _every(10.0, "accounts.tasks.refresh_social_profiles"),
    "store-key-usage": _every(60.0, "accounts.tasks.store_key_usage"),
    "prune-key-usage": _every(3600.0, "accounts.tasks.prune_key_usage"),
    "prune-sessions": _every(3600.0, "accounts.tasks.prune_sessions"),
    "refresh-markets": _every(2.0, "tokens.tasks.refresh_markets"),
    "prune-market-history": _every(600.0, "tokens.tasks.prune_market_history"),
}
