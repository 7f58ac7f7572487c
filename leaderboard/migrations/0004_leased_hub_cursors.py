from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone


class Migration(migrations.Migration):
    """Columns of the leased queue of agents' casts; existing columns keep their names."""

    dependencies = [("leaderboard", "0003_one_agent_each")]

    operations = [
        migrations.AddField("hubcursor", "leased_until", models.DateTimeField(null=True, blank=True)),
        migrations.AddField("hubcursor", "unfinished", models.IntegerField(default=0, db_default=0)),
        migrations.AlterField("hubcursor", "due_at", models.DateTimeField(default=timezone.now, db_default=Now())),
        migrations.AlterField("hubcursor", "failures", models.PositiveIntegerField(default=0, db_default=0, db_column="failures")),
        migrations.RenameField("hubcursor", "failures", "attempts"),
        migrations.AlterField("hubcursor", "trouble", models.TextField(blank=True, default="", db_default="", db_column="trouble")),
        migrations.RenameField("hubcursor", "trouble", "last_error"),
    ]
