"""What operators and support may do about following in the admin site."""

from django.db import migrations

from accounts.operators import roles

SEE = ("tokens.view_coverage", "tokens.view_chainhead", "tokens.view_coveragealarm")
PERMISSIONS = {
    roles.OPERATOR: (*SEE, "tokens.change_coveragealarm"),
    roles.SUPPORT: SEE,
}


class Migration(migrations.Migration):
    dependencies = [
        ("tokens", "0007_following"),
        ("accounts", "0004_roles"),
    ]

    operations = [roles.grant(PERMISSIONS)]
