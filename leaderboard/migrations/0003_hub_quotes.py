import django.db.models.deletion
from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone


class Migration(migrations.Migration):
    """Reported quotes to look up on the hub, and each ranking's threshold of a large audience."""

    replaces = [("leaderboard", "0008_hub_quotes")]
    dependencies = [("leaderboard", "0002_proven_fids")]

    operations = [
        migrations.CreateModel(
            name="HubQuote",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("due_at", models.DateTimeField(db_default=Now(), default=timezone.now)),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveIntegerField(db_default=0, default=0)),
                ("unfinished", models.IntegerField(db_default=0, default=0)),
                ("last_error", models.TextField(blank=True, db_default="", default="")),
                ("fid", models.BigIntegerField()),
                ("message_hash", models.CharField(max_length=42)),
                ("at", models.DateTimeField()),
                (
                    "agent",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="hub_quotes",
                        to="leaderboard.agent",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["due_at"], name="hub_quote_due")],
                "constraints": [models.UniqueConstraint(fields=("agent", "message_hash"), name="hub_quote_once")],
            },
        ),
        # Last: the table is locked until the transaction ends.
        migrations.AddField("snapshot", "large_audience", models.FloatField(null=True)),
    ]
