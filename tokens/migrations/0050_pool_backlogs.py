import django.db.models.deletion
import django.utils.timezone
from django.db import migrations, models
from django.db.models.functions import Now

from accounts.operators import roles

_SEE = ("tokens.view_poolbacklog",)
PERMISSIONS = {roles.OPERATOR: (*_SEE, "tokens.change_poolbacklog"), roles.SUPPORT: _SEE}


class Migration(migrations.Migration):
    """Backlogs of pools whose logs are missing, a leased queue; 0051 adds those of stored tokens."""

    dependencies = [("tokens", "0049_coverage_alarm_counts"), ("accounts", "0004_roles")]

    operations = [
        migrations.CreateModel(
            name="PoolBacklog",
            fields=[
                ("due_at", models.DateTimeField(db_default=Now(), default=django.utils.timezone.now)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveIntegerField(db_default=0, default=0)),
                ("unfinished", models.IntegerField(db_default=0, default=0)),
                ("last_error", models.TextField(blank=True, db_default="", default="")),
                (
                    "token",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="pool_backlog",
                        serialize=False,
                        to="tokens.token",
                    ),
                ),
                ("next_block", models.BigIntegerField()),
            ],
            options={"indexes": [models.Index(fields=["due_at"], name="pool_backlog_due")]},
        ),
        roles.grant(PERMISSIONS),
    ]
