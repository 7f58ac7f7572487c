from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone

# A change of the catalog only, for which a busy table is locked within this time, or not at all.
LIMIT = migrations.RunSQL("SET LOCAL lock_timeout = '5s'", "SET LOCAL lock_timeout = '5s'")


class Migration(migrations.Migration):
    """Columns of the leased queue of interactions with casts; existing columns keep their names."""

    dependencies = [("leaderboard", "0004_leased_hub_cursors")]

    operations = [
        LIMIT,
        migrations.AddField("hubcast", "leased_until", models.DateTimeField(null=True, blank=True)),
        migrations.AddField("hubcast", "unfinished", models.IntegerField(default=0, db_default=0)),
        migrations.AddField("hubcast", "last_error", models.TextField(blank=True, default="", db_default="")),
        migrations.AlterField("hubcast", "due_at", models.DateTimeField(default=timezone.now, db_default=Now())),
        migrations.AlterField("hubcast", "failures", models.PositiveIntegerField(default=0, db_default=0, db_column="failures")),
        migrations.RenameField("hubcast", "failures", "attempts"),
        LIMIT,
    ]
