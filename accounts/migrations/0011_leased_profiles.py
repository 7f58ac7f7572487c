from django.db import migrations, models
from django.db.models.functions import Now
from django.utils import timezone


class Migration(migrations.Migration):
    """Columns of the leased queue of profiles; existing columns keep their names."""

    dependencies = [("accounts", "0010_identities_by_kind")]

    operations = [
        migrations.AddField("socialprofile", "leased_until", models.DateTimeField(null=True, blank=True)),
        migrations.AddField("socialprofile", "unfinished", models.IntegerField(default=0, db_default=0)),
        migrations.AddField("socialprofile", "last_error", models.TextField(blank=True, default="", db_default="")),
        migrations.AlterField("socialprofile", "due_at", models.DateTimeField(default=timezone.now, db_default=Now())),
        migrations.AlterField("socialprofile", "misses", models.PositiveIntegerField(default=0, db_default=0, db_column="misses")),
        migrations.RenameField("socialprofile", "misses", "attempts"),
    ]
