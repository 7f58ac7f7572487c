from django.db import migrations, models


class Migration(migrations.Migration):
    """What verification corrected, kept or could not prove."""

    replaces = [("tokens", "0049_coverage_alarm_counts")]
    dependencies = [("tokens", "0008_repeated_blocks")]

    operations = [
        migrations.AddField("coveragealarm", "corrected", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AddField("coveragealarm", "kept", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AddField("coveragealarm", "unproven", models.PositiveIntegerField(default=0, db_default=0)),
    ]
