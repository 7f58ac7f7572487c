from django.db import migrations, models


class Migration(migrations.Migration):
    """The first block of a coverage row that only one provider returned."""

    dependencies = [("tokens", "0044_claim_sums")]

    operations = [
        migrations.AddField("Coverage", "repeated_from", models.BigIntegerField(blank=True, null=True)),
    ]
