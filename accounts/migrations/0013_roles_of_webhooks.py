"""Webhook endpoints, deliveries and published events in the admin site: operators change endpoints, support reads."""

from django.db import migrations

from accounts.operators import roles

SEE = ("accounts.view_webhookendpoint", "accounts.view_webhookdelivery", "events.view_event")
PERMISSIONS = {
    roles.OPERATOR: (
        *SEE,
        "accounts.add_webhookendpoint",
        "accounts.change_webhookendpoint",
        "accounts.delete_webhookendpoint",
    ),
    roles.SUPPORT: SEE,
}


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0012_webhooks"),
        ("events", "0001_events"),
    ]

    operations = [roles.grant(PERMISSIONS)]
