"""What operators and support may do about saved tokens in the admin site: look at them."""

from django.db import migrations

from accounts.operators import roles

SEE = ("tokens.view_savedtoken",)
PERMISSIONS = {roles.OPERATOR: SEE, roles.SUPPORT: SEE}


class Migration(migrations.Migration):
    dependencies = [
        ("tokens", "0011_saved_tokens"),
        ("accounts", "0004_roles"),
    ]

    operations = [roles.grant(PERMISSIONS)]
