"""What operators and support may do about Solana's accounts and documents in the admin site."""

from django.db import migrations

from accounts.operators import roles

SEE = ("tokens.view_followedaccount", "tokens.view_tokendocument")
PERMISSIONS = {roles.OPERATOR: (*SEE, "tokens.change_tokendocument"), roles.SUPPORT: SEE}


class Migration(migrations.Migration):
    dependencies = [
        ("tokens", "0013_solana"),
        ("accounts", "0004_roles"),
    ]

    operations = [roles.grant(PERMISSIONS)]
