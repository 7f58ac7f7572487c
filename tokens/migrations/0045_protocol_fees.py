from django.db import migrations, models


class Migration(migrations.Migration):
    """Fees that hooks take beside trades. No row is rewritten."""

    dependencies = [("tokens", "0044_claim_sums")]

    operations = [
        migrations.AddField(
            "pooltrade", "protocol_fee", models.DecimalField(decimal_places=0, max_digits=78, null=True)
        ),
    ]
