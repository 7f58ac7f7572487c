"""What operators and support may do about deployments in the admin site."""

from django.db import migrations

from accounts.operators import roles

SEE = (
    "tokens.view_deployment",
    "tokens.view_deploywallet",
    "tokens.view_deployattempt",
    "tokens.view_signedtransaction",
    "tokens.view_deployswitch",
    "tokens.view_deployquota",
    "tokens.view_airdroptree",
)
PERMISSIONS = {
    roles.OPERATOR: (
        *SEE,
        "tokens.change_deployment",
        "tokens.change_deploywallet",
        "tokens.add_deployswitch",
        "tokens.change_deployswitch",
        "tokens.add_deployquota",
        "tokens.change_deployquota",
        "tokens.delete_deployquota",
    ),
    roles.SUPPORT: SEE,
}


class Migration(migrations.Migration):
    dependencies = [
        ("tokens", "0009_deploying"),
        ("accounts", "0004_roles"),
    ]

    operations = [roles.grant(PERMISSIONS)]
