from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone


class Migration(migrations.Migration):
    """Columns of the leased queue of documents; existing columns keep their names."""

    dependencies = [("tokens", "0015_leased_index_requests")]

    operations = [
        migrations.AddField("tokendocument", "leased_until", models.DateTimeField(null=True, blank=True)),
        migrations.AddField("tokendocument", "unfinished", models.IntegerField(default=0, db_default=0)),
        migrations.AlterField("tokendocument", "due_at", models.DateTimeField(default=timezone.now, db_default=Now())),
        migrations.AlterField("tokendocument", "attempts", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AlterField("tokendocument", "last_error", models.TextField(blank=True, default="", db_default="")),
    ]
