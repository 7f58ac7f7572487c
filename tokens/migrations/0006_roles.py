"""What operators and support may do about tokens in the admin site."""

from django.db import migrations

from accounts.operators import roles

SEE = (
    "tokens.view_token",
    "tokens.view_market",
    "tokens.view_indexrequest",
    "tokens.view_launchfacts",
    "tokens.view_tokenevent",
    "tokens.view_feeclaim",
)
PERMISSIONS = {
    roles.OPERATOR: (*SEE, "tokens.change_token", "tokens.change_indexrequest"),
    roles.SUPPORT: SEE,
}


class Migration(migrations.Migration):
    dependencies = [
        ("tokens", "0005_events_after_launch"),
        ("accounts", "0004_roles"),
    ]

    operations = [roles.grant(PERMISSIONS)]
