from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone


class Migration(migrations.Migration):
    """Columns of the leased queue of interactions with casts; existing columns keep their names."""

    dependencies = [("leaderboard", "0004_leased_hub_cursors")]

    operations = [
        migrations.AddField("hubcast", "leased_until", models.DateTimeField(null=True, blank=True)),
        migrations.AddField("hubcast", "unfinished", models.IntegerField(default=0, db_default=0)),
        migrations.AddField("hubcast", "last_error", models.TextField(blank=True, default="", db_default="")),
        migrations.AlterField("hubcast", "due_at", models.DateTimeField(default=timezone.now, db_default=Now())),
        migrations.AlterField("hubcast", "failures", models.PositiveIntegerField(default=0, db_default=0, db_column="failures")),
        migrations.RenameField("hubcast", "failures", "attempts"),
    ]
