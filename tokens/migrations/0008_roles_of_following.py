"""What operators and support may do about following in the admin site."""

from django.db import migrations

from accounts.operators import roles

SEE = ("tokens.view_coverage", "tokens.view_chainhead", "tokens.view_coveragealarm")
PERMISSIONS = {
    roles.OPERATOR: (*SEE, "tokens.change_coveragealarm"),
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
        ("tokens", "0007_following"),
        ("accounts", "0004_roles"),
    ]

    operations = [migrations.RunPython(make_roles, remove_roles)]
