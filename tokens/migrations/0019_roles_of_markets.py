"""Read access of operators and support to the queue of market refreshes in the admin site."""

from django.db import migrations

from accounts.operators import roles

SEE = ("tokens.view_market",)
PERMISSIONS = {roles.OPERATOR: SEE, roles.SUPPORT: SEE}


def make_roles(apps, schema_editor):
    for role, permissions in PERMISSIONS.items():
        roles.grant_permissions(apps, role=role, permissions=permissions, using=schema_editor.connection.alias)


def remove_roles(apps, schema_editor):
    for role, permissions in PERMISSIONS.items():
        roles.withdraw_permissions(apps, role=role, permissions=permissions, using=schema_editor.connection.alias)


class Migration(migrations.Migration):
    dependencies = [
        ("tokens", "0018_uncompressed_tokens"),
        ("accounts", "0004_roles"),
    ]

    operations = [migrations.RunPython(make_roles, remove_roles)]
