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


def make_roles(apps, schema_editor):
    for role, permissions in PERMISSIONS.items():
        roles.grant_permissions(apps, role=role, permissions=permissions, using=schema_editor.connection.alias)


def remove_roles(apps, schema_editor):
    for role, permissions in PERMISSIONS.items():
        roles.withdraw_permissions(apps, role=role, permissions=permissions, using=schema_editor.connection.alias)


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0012_webhooks"),
        ("events", "0001_events"),
    ]

    operations = [migrations.RunPython(make_roles, remove_roles)]
