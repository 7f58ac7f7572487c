from django.db import migrations, models


# One statement: Django renders models between two operations, and would hold the lock meanwhile.
ADD = """
ALTER TABLE "tokens_trade" ADD COLUMN "tx_index" integer,
    ADD COLUMN "fee" integer,
    ADD COLUMN "protocol_fee" numeric(78, 0),
    ADD COLUMN "token_fee" numeric(78, 0)
"""
FIELDS = {
    "tx_index": models.IntegerField(null=True),
    "fee": models.IntegerField(null=True),
    "protocol_fee": models.DecimalField(decimal_places=0, max_digits=78, null=True),
    "token_fee": models.DecimalField(decimal_places=0, max_digits=78, null=True),
}


class Migration(migrations.Migration):
    """Transaction indexes and fees of trades. No row is rewritten."""

    replaces = [("tokens", name) for name in "0038_places_of_trades 0045_protocol_fees 0062_token_fees".split()]
    dependencies = [("tokens", "0005_pools")]

    operations = [
        migrations.RunSQL(
            ADD, state_operations=[migrations.AddField("pooltrade", name, field) for name, field in FIELDS.items()]
        ),
    ]
