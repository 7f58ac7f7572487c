"""Metrics for accounts: events and webhooks."""

from accounts.subscriptions.metrics import events, webhooks
from config.watching.metrics import register_collectors

register_collectors(events, webhooks)
