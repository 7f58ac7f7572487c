from django.db import migrations, models


class Migration(migrations.Migration):
    """What verification corrected, kept or could not prove."""

    dependencies = [("tokens", "0048_repeated_blocks")]

    operations = [
        migrations.AddField("CoverageAlarm", "corrected", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AddField("CoverageAlarm", "kept", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AddField("CoverageAlarm", "unproven", models.PositiveIntegerField(default=0, db_default=0)),
    ]
