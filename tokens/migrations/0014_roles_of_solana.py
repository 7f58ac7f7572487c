"""What operators and support may do about Solana's accounts and documents in the admin site."""

from django.db import migrations

from accounts.operators import roles

SEE = ("tokens.view_followedaccount", "tokens.view_tokendocument")
PERMISSIONS = {roles.OPERATOR: (*SEE, "tokens.change_tokendocument"), roles.SUPPORT: SEE}


def make_roles(apps, schema_editor):
    for role, permissions in PERMISSIONS.items():
        roles.grant_permissions(apps, role=role, permissions=permissions, using=schema_editor.connection.alias)


def remove_roles(apps, schema_editor):
    for role, permissions in PERMISSIONS.items():
        roles.withdraw_permissions(apps, role=role, permissions=permissions, using=schema_editor.connection.alias)


class Migration(migrations.Migration):
    dependencies = [
        ("tokens", "0013_solana"),
        ("accounts", "0004_roles"),
    ]

    operations = [migrations.RunPython(make_roles, remove_roles)]
