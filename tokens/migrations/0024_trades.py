import django.contrib.postgres.indexes
from django.db import migrations, models

from tokens.models.trade import ExactNumericField


class CreatePartitionedModel(migrations.CreateModel):
    """Creates a table that is partitioned by time. Its partitions are made by the code that writes rows."""

    def database_forwards(self, app_label, schema_editor, from_state, to_state):
        schema_editor.sql_create_table = f"{type(schema_editor).sql_create_table} PARTITION BY RANGE (at)"
        super().database_forwards(app_label, schema_editor, from_state, to_state)
        del schema_editor.sql_create_table


# The columns of a candle, of any period.
CANDLE_COLUMNS = [
    ("at", models.DateTimeField()),
    ("first_position", models.BigIntegerField()),
    ("last_position", models.BigIntegerField()),
    ("open", ExactNumericField(max_digits=1000, decimal_places=1000)),
    ("high", ExactNumericField(max_digits=1000, decimal_places=1000)),
    ("low", ExactNumericField(max_digits=1000, decimal_places=1000)),
    ("close", ExactNumericField(max_digits=1000, decimal_places=1000)),
    ("open_usd", models.FloatField(null=True)),
    ("high_usd", models.FloatField(null=True)),
    ("low_usd", models.FloatField(null=True)),
    ("close_usd", models.FloatField(null=True)),
    ("volume_quote", models.DecimalField(max_digits=78, decimal_places=0)),
    ("volume_usd", ExactNumericField(max_digits=1000, decimal_places=1000)),
    ("buys", models.IntegerField()),
    ("sells", models.IntegerField()),
]


class Migration(migrations.Migration):
    """Trades, candles, rolling sums and reference prices."""

    dependencies = [("tokens", "0023_stored_states")]

    operations = [
        CreatePartitionedModel(
            name="PoolTrade",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "token_id", "at", "position", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        "tokens.token", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="trades"
                    ),
                ),
                ("at", models.DateTimeField()),
                ("position", models.BigIntegerField()),
                ("tx_hash", models.BinaryField()),
                ("trader", models.BinaryField(null=True)),
                ("is_buy", models.BooleanField()),
                ("is_conversion", models.BooleanField()),
                ("amount_token", models.DecimalField(max_digits=78, decimal_places=0)),
                ("amount_quote", models.DecimalField(max_digits=78, decimal_places=0)),
                ("price", ExactNumericField(max_digits=1000, decimal_places=1000)),
                ("quote_usd", ExactNumericField(max_digits=1000, decimal_places=1000, null=True)),
            ],
            options={"db_table": "tokens_trade"},
        ),
        migrations.AddIndex(
            model_name="pooltrade",
            index=django.contrib.postgres.indexes.BrinIndex(
                django.contrib.postgres.indexes.OpClass(models.F("position"), name="int8_minmax_multi_ops"),
                autosummarize=True,
                name="trade_by_position",
            ),
        ),
        CreatePartitionedModel(
            name="MinuteCandle",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "token_id", "at", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        "tokens.token", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
                    ),
                ),
                *CANDLE_COLUMNS,
            ],
        ),
        migrations.CreateModel(
            name="Candle",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "token_id", "seconds", "at", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        "tokens.token", models.DO_NOTHING, db_constraint=False, db_index=False, related_name="+"
                    ),
                ),
                ("seconds", models.IntegerField()),
                *CANDLE_COLUMNS,
            ],
        ),
        migrations.CreateModel(
            name="PoolLiquidityChange",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "token_id", "position", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        "tokens.token",
                        models.DO_NOTHING,
                        db_constraint=False,
                        db_index=False,
                        related_name="liquidity_changes",
                    ),
                ),
                ("position", models.BigIntegerField()),
                ("at", models.DateTimeField()),
                ("tick_lower", models.IntegerField()),
                ("tick_upper", models.IntegerField()),
                ("liquidity", models.DecimalField(max_digits=78, decimal_places=0)),
            ],
            options={"indexes": [models.Index(fields=["position"], name="liquidity_by_position")]},
        ),
        migrations.CreateModel(
            name="ReferencePrice",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "chain_id",
                        "pool",
                        "block_number",
                        blank=True,
                        editable=False,
                        primary_key=True,
                        serialize=False,
                    ),
                ),
                ("chain_id", models.BigIntegerField()),
                ("pool", models.CharField(max_length=66)),
                ("block_number", models.BigIntegerField()),
                ("position", models.BigIntegerField()),
                ("at", models.DateTimeField()),
                ("currency", models.CharField(max_length=44)),
                ("usd", ExactNumericField(max_digits=1000, decimal_places=1000)),
            ],
        ),
        migrations.CreateModel(
            name="RollingSum",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "token_id", "seconds", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        "tokens.token",
                        models.DO_NOTHING,
                        db_constraint=False,
                        db_index=False,
                        related_name="rolling_sums",
                    ),
                ),
                ("seconds", models.IntegerField()),
                ("volume_quote", models.DecimalField(max_digits=78, decimal_places=0)),
                ("volume_usd", ExactNumericField(max_digits=1000, decimal_places=1000)),
                ("buys", models.IntegerField()),
                ("sells", models.IntegerField()),
                ("traders", models.IntegerField()),
                ("opening_price", ExactNumericField(max_digits=1000, decimal_places=1000, null=True)),
                ("opening_usd", models.FloatField(null=True)),
            ],
        ),
        migrations.CreateModel(
            name="RecentTrader",
            fields=[
                (
                    "pk",
                    models.CompositePrimaryKey(
                        "token_id", "trader", blank=True, editable=False, primary_key=True, serialize=False
                    ),
                ),
                (
                    "token",
                    models.ForeignKey(
                        "tokens.token",
                        models.DO_NOTHING,
                        db_constraint=False,
                        db_index=False,
                        related_name="recent_traders",
                    ),
                ),
                ("trader", models.BinaryField()),
                ("last_at", models.DateTimeField()),
                ("net_usd", models.FloatField()),
            ],
            options={"indexes": [models.Index(fields=["last_at"], name="recent_trader_by_time")]},
        ),
        migrations.CreateModel(
            name="RollingClock",
            fields=[
                ("chain_id", models.BigIntegerField(primary_key=True, serialize=False)),
                ("rolled_to", models.DateTimeField()),
            ],
        ),
        migrations.AddField(
            "market", "price_quote", ExactNumericField(max_digits=1000, decimal_places=1000, null=True)
        ),
        migrations.AddField("market", "last_position", models.BigIntegerField(null=True)),
        migrations.AddField("market", "last_trade_at", models.DateTimeField(null=True)),
        migrations.AddField("market", "trending", models.FloatField(null=True)),
    ]
