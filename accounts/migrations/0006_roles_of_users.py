"""What the groups may do about users, administrators and their sessions."""

from django.db import migrations

from accounts.operators import roles

SEE = (
    "accounts.view_person",
    "accounts.view_identity",
    "accounts.view_administrator",
    "accounts.view_adminsession",
)
PERMISSIONS = {
    roles.OPERATOR: (
        *SEE,
        "accounts.add_administrator",
        "accounts.change_administrator",
        "accounts.delete_administrator",
        "accounts.change_adminsession",
    ),
    roles.SUPPORT: SEE,
}


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0005_users_and_administrators"),
    ]

    operations = [roles.grant(PERMISSIONS)]
