"""The groups `operator` and `support`, with what they may do about partner keys; each app adds what it has."""

from django.db import migrations

from accounts.operators import roles

SEE = (
    "accounts.view_partnerkey",
    "accounts.view_keyusage",
    "accounts.view_socialprofile",
    "admin.view_logentry",
)
PERMISSIONS = {
    roles.OPERATOR: (
        *SEE,
        "accounts.add_partnerkey",
        "accounts.change_partnerkey",
    ),
    roles.SUPPORT: SEE,
}


class Migration(migrations.Migration):
    dependencies = [
        ("accounts", "0003_usage_and_limits"),
        ("admin", "0003_logentry_add_action_flag_choices"),
        ("auth", "0012_alter_user_first_name_max_length"),
        ("contenttypes", "0002_remove_content_type_name"),
    ]

    operations = [roles.grant(PERMISSIONS)]
