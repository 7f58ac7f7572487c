"""What operators and support may do about pretokens in the admin site."""

from django.db import migrations

from accounts.operators import roles

SEE = ("pretokens.view_pretoken",)
PERMISSIONS = {
    # To restore and to deploy them; no line of their pages is edited.
    roles.OPERATOR: (*SEE, "pretokens.change_pretoken"),
    roles.SUPPORT: SEE,
}


class Migration(migrations.Migration):
    dependencies = [
        ("pretokens", "0001_pretokens"),
        ("accounts", "0004_roles"),
    ]

    operations = [roles.grant(PERMISSIONS)]
