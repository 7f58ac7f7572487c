import django.contrib.postgres.fields
from django.db import migrations, models

import tokens.models.trade


class Migration(migrations.Migration):
    """Terms of bonding curves, and the progress of tokens on them. Both are unknown at first, so no row is written."""

    dependencies = [("tokens", "0033_halt_times")]

    operations = [
        migrations.CreateModel(
            name="BondingCurve",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.BigIntegerField()),
                ("config", models.CharField(max_length=44)),
                ("start_sqrt_price", tokens.models.trade.ExactNumericField()),
                ("migration_sqrt_price", tokens.models.trade.ExactNumericField()),
                ("migration_threshold", tokens.models.trade.ExactNumericField()),
                (
                    "sqrt_prices",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=tokens.models.trade.ExactNumericField(), size=None
                    ),
                ),
                (
                    "liquidities",
                    django.contrib.postgres.fields.ArrayField(
                        base_field=tokens.models.trade.ExactNumericField(), size=None
                    ),
                ),
                ("read_at", models.DateTimeField(auto_now_add=True)),
            ],
            options={
                "constraints": [models.UniqueConstraint(fields=("chain_id", "config"), name="bonding_curve_once")],
            },
        ),
        migrations.AddField(
            "market", "curve_progress", models.DecimalField(decimal_places=6, max_digits=9, null=True)
        ),
        migrations.AddField("market", "graduated_at", models.DateTimeField(null=True)),
    ]
