from django.db import migrations, models


class Migration(migrations.Migration):
    """What verification corrected, kept or could not prove, and blocks that only one provider returned."""

    dependencies = [("tokens", "0044_claim_sums")]

    operations = [
        migrations.AddField("Coverage", "repeated_from", models.BigIntegerField(blank=True, null=True)),
        migrations.AddField("CoverageAlarm", "corrected", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AddField("CoverageAlarm", "kept", models.PositiveIntegerField(default=0, db_default=0)),
        migrations.AddField("CoverageAlarm", "unproven", models.PositiveIntegerField(default=0, db_default=0)),
    ]
