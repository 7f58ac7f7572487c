"""Celery beat schedule, and task queues."""

from typing import Any


def _every(seconds: float, task: str) -> dict[str, Any]:
    return {"task": task, "schedule": seconds}


SCHEDULE = {
    "sweep-index-requests": _every(5.0, "tokens.tasks.sweep_index_requests"),
    "confirm-index-requests": _every(30.0, "tokens.tasks.confirm_index_requests"),
    "sweep-deployments": _every(5.0, "tokens.tasks.sweep_deployments"),
    "watch-deployments": _every(1.0, "tokens.tasks.watch_deployments"),
    "confirm-deployments": _every(10.0, "tokens.tasks.confirm_deployments"),
    "expire-pretokens": _every(60.0, "pretokens.tasks.expire_pretokens"),
    "prune-pretokens": _every(600.0, "pretokens.tasks.prune_pretokens"),
    "note-deploy-wallets": _every(30.0, "tokens.tasks.note_deploy_wallets"),
    "refresh-social-profiles": _every(10.0, "accounts.tasks.refresh_social_profiles"),
    "store-key-usage": _every(60.0, "accounts.tasks.store_key_usage"),
    "prune-key-usage": _every(3600.0, "accounts.tasks.prune_key_usage"),
    "prune-webhook-deliveries": _every(60.0, "accounts.tasks.prune_webhook_deliveries"),
    "prune-sessions": _every(3600.0, "accounts.tasks.prune_sessions"),
    "prune-saved-tokens": _every(3600.0, "tokens.tasks.prune_saved_tokens"),
    "refresh-markets": _every(2.0, "tokens.tasks.refresh_markets"),
    "queue-provider-tokens": _every(60.0, "tokens.tasks.queue_provider_tokens"),
    "compare-prices": _every(600.0, "tokens.tasks.compare_prices"),
    "read-pool-backlogs": _every(15.0, "tokens.tasks.read_pool_backlogs"),
    "fetch-documents": _every(2.0, "tokens.tasks.fetch_documents"),
    "fetch-pictures": _every(2.0, "tokens.tasks.fetch_pictures"),
    "pull-hub": _every(15.0, "leaderboard.tasks.pull_hub"),
    "note-social-scores": _every(600.0, "leaderboard.tasks.note_social_scores"),
    # The task selects the due intervals.
    "make-rankings": _every(15.0, "leaderboard.tasks.make_rankings"),
    "prune-rankings": _every(300.0, "leaderboard.tasks.prune_rankings"),
    # The task scans every account with a score, however old.
    "prune-facts": _every(3600.0, "leaderboard.tasks.prune_facts"),
    "maintain-partitions": _every(60.0, "tokens.tasks.maintain_partitions"),
    "fill-fee-sums": _every(60.0, "tokens.tasks.fill_fee_sums"),
    "prune-reference-prices": _every(3600.0, "tokens.tasks.prune_reference_prices"),
}

# Workers take tasks from all queues in turn, so that a backlog in one delays no other: in-flight deployments are
# watched while many others wait for signing. With `--queues` a worker serves only some queues. The queues with index
# requests and deployments may be long: the only periodic task in them is the one that needs signers.
QUEUES: dict[str, dict[str, Any]] = {name: {} for name in ("celery", "deploy", "watch", "leaderboard", "documents")}

# All other tasks use the first queue.
_QUEUED = {
    "deploy": ("submit_deployment", "submit_waiting", "note_deploy_wallets", "note_wallets_of_chain"),
    # Short tasks that must not wait.
    "watch": (
        *("sweep_index_requests", "confirm_index_requests", "confirm_chain", "sweep_deployments", "watch_deployments"),
        *("watch_chain", "confirm_deployments", "confirm_deployed", "maintain_partitions"),
    ),
    # Data from outside services, and upkeep: both may wait.
    "documents": (
        *("fetch_documents", "fetch_pictures", "refresh_markets", "queue_provider_tokens", "compare_prices"),
        *("prune_saved_tokens", "prune_reference_prices", "fill_fee_sums", "read_pool_backlogs"),
    ),
}
ROUTES = (
    {f"tokens.tasks.{task}": {"queue": queue} for queue, tasks in _QUEUED.items() for task in tasks}
    | {
        # A separate worker for this queue keeps the others free.
        f"leaderboard.tasks.{task}": {"queue": "leaderboard"}
        for task in ("pull_hub", "make_rankings", "make_ranking", "prune_rankings", "prune_facts")
    }
    | dict.fromkeys(("accounts.tasks.store_key_usage", "pretokens.tasks.expire_pretokens"), {"queue": "watch"})
    | dict.fromkeys(
        (
            *("accounts.tasks.refresh_social_profiles", "accounts.tasks.prune_key_usage"),
            *("accounts.tasks.prune_webhook_deliveries", "accounts.tasks.prune_sessions"),
            *("pretokens.tasks.prune_pretokens", "leaderboard.tasks.note_social_scores"),
        ),
        {"queue": "documents"},
    )
)
