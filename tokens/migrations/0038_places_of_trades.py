from django.db import migrations, models


class Migration(migrations.Migration):
    """Indexes of transactions and fees of trades. No row is rewritten."""

    dependencies = [("tokens", "0037_trusted_tokens")]

    operations = [
        migrations.AddField("pooltrade", "tx_index", models.IntegerField(null=True)),
        migrations.AddField("pooltrade", "fee", models.IntegerField(null=True)),
    ]
