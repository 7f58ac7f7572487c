"""Read access of operators and support to the queue of market refreshes in the admin site."""

from django.db import migrations

from accounts.operators import roles

SEE = ("tokens.view_market",)
PERMISSIONS = {roles.OPERATOR: SEE, roles.SUPPORT: SEE}


class Migration(migrations.Migration):
    dependencies = [
        ("tokens", "0018_uncompressed_tokens"),
        ("accounts", "0004_roles"),
    ]

    operations = [roles.grant(PERMISSIONS)]
