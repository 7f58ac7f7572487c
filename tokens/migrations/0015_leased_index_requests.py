from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone


class Migration(migrations.Migration):
    """Columns of the leased queue of index requests; existing columns keep their names."""

    dependencies = [("tokens", "0014_roles_of_solana")]

    operations = [
        migrations.AddField("indexrequest", "leased_until", models.DateTimeField(null=True, blank=True)),
        migrations.AlterField("indexrequest", "due_at", models.DateTimeField(default=timezone.now, db_default=Now())),
        migrations.AlterField("indexrequest", "attempts", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AlterField("indexrequest", "unfinished", models.IntegerField(default=0, db_default=0)),
        migrations.AlterField("indexrequest", "last_error", models.TextField(blank=True, default="", db_default="")),
    ]
