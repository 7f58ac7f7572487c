"""config/celery.py: names of tasks on the wire, their schedule and their queues."""

from celery import current_app
from django.conf import settings

from config.celery import app

# The names on the wire. Messages that wait in a queue while a release is installed bear them: a task that moves to
# another module keeps its name.
WIRE_NAMES = {
    "accounts.tasks.prune_key_usage",
    "accounts.tasks.prune_sessions",
    "accounts.tasks.prune_webhook_deliveries",
    "accounts.tasks.refresh_social_profiles",
    "accounts.tasks.store_key_usage",
    "leaderboard.tasks.make_ranking",
    "leaderboard.tasks.make_rankings",
    "leaderboard.tasks.note_social_scores",
    "leaderboard.tasks.prune_facts",
    "leaderboard.tasks.prune_rankings",
    "leaderboard.tasks.pull_hub",
    "pretokens.tasks.expire_pretokens",
    "pretokens.tasks.prune_pretokens",
    "tokens.tasks.compare_prices",
    "tokens.tasks.confirm_chain",
    "tokens.tasks.confirm_deployed",
    "tokens.tasks.confirm_deployments",
    "tokens.tasks.confirm_index_requests",
    "tokens.tasks.count_selection",
    "tokens.tasks.fetch_documents",
    "tokens.tasks.fetch_pictures",
    "tokens.tasks.fill_fee_sums",
    "tokens.tasks.index_transaction",
    "tokens.tasks.maintain_partitions",
    "tokens.tasks.note_deploy_wallets",
    "tokens.tasks.note_wallets_of_chain",
    "tokens.tasks.prune_reference_prices",
    "tokens.tasks.prune_saved_tokens",
    "tokens.tasks.queue_provider_tokens",
    "tokens.tasks.read_pool_backlogs",
    "tokens.tasks.refresh_markets",
    "tokens.tasks.submit_deployment",
    "tokens.tasks.submit_waiting",
    "tokens.tasks.sweep_deployments",
    "tokens.tasks.sweep_index_requests",
    "tokens.tasks.watch_chain",
    "tokens.tasks.watch_deployments",
}


def registered():
    # As a worker does when it starts.
    app.loader.import_default_modules()
    return {name for name in app.tasks if not name.startswith("celery.")}


def test_every_task_has_its_name_on_the_wire():
    assert registered() == WIRE_NAMES


def test_every_scheduled_task_is_registered():
    assert {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()} <= registered()


def test_every_routed_task_is_registered():
    assert set(settings.CELERY_TASK_ROUTES) <= registered()


def test_the_settings_configure_the_application():
    assert app.conf.broker_url == settings.CELERY_BROKER_URL
    assert app.conf.task_acks_late
    assert current_app.main == "launchboard"
