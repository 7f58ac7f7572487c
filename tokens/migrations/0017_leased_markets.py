from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone


class Migration(migrations.Migration):
    """Columns of the leased queue of market data; existing columns keep their names."""

    dependencies = [("tokens", "0016_leased_documents")]

    operations = [
        migrations.AddField("market", "leased_until", models.DateTimeField(null=True, blank=True)),
        migrations.AddField("market", "unfinished", models.IntegerField(default=0, db_default=0)),
        migrations.AddField("market", "last_error", models.TextField(blank=True, default="", db_default="")),
        migrations.AlterField("market", "due_at", models.DateTimeField(default=timezone.now, db_default=Now())),
        migrations.AlterField("market", "misses", models.SmallIntegerField(default=0, db_default=0, db_column="misses")),
        migrations.RenameField("market", "misses", "attempts"),
    ]
