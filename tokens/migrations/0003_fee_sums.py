import django.db.models.deletion
from django.contrib.postgres.operations import AddConstraintNotValid
from django.db import migrations, models

import tokens.models.trade
from config.postgresql.sql_files import load_sql


KINDS = [
    "admin_updated", "image_updated", "metadata_updated", "verified", "reward_recipient_updated",
    "reward_admin_updated", "fee_preference_updated", "fees_collected", "fees_claimed", "team_fees_claimed", "vault_claimed",
    "vault_admin_updated", "airdrop_claimed", "airdrop_root_updated", "airdrop_admin_updated", "name_updated", "symbol_updated",
    "uri_updated", "pool_changed",
]  # fmt: skip
# One statement: Django renders models between two operations, and would hold the lock meanwhile.
REPLACE_CONSTRAINT = f"""
ALTER TABLE "tokens_tokenevent" DROP CONSTRAINT "token_event_kind_known",
    ADD CONSTRAINT "token_event_kind_known" CHECK ("kind" IN ({", ".join(f"'{kind}'" for kind in KINDS)})) NOT VALID
"""


class Migration(migrations.Migration):
    """Daily sums of fees by triggers of events, and kinds of events that declared launchpads have.

    0016 validates the constraint of kinds, without a lock.
    """

    replaces = [("tokens", name) for name in "0043_fee_sums 0058_kinds_of_declared_events".split()]
    dependencies = [("tokens", "0002_partner_files")]

    operations = [
        migrations.CreateModel(
            name='FeeSumProgress',
            fields=[
                ('chain_id', models.BigIntegerField(primary_key=True, serialize=False)),
                ('summed_to', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='CollectionSum',
            fields=[
                ('pk', models.CompositePrimaryKey('token_id', 'day', 'since', 'share', 'place', blank=True, editable=False, primary_key=True, serialize=False)),
                ('token', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='tokens.token')),
                ('day', models.DateField()),
                ('since', models.BigIntegerField()),
                ('share', models.IntegerField()),
                ('place', models.SmallIntegerField()),
                ('amount', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
                ('first_block', models.BigIntegerField()),
                ('last_block', models.BigIntegerField()),
            ],
        ),
        migrations.CreateModel(
            name='ClaimSum',
            fields=[
                ('pk', models.CompositePrimaryKey('token_id', 'day', 'recipient', 'currency', blank=True, editable=False, primary_key=True, serialize=False)),
                ('token', models.ForeignKey(db_constraint=False, db_index=False, on_delete=django.db.models.deletion.DO_NOTHING, related_name='+', to='tokens.token')),
                ('day', models.DateField()),
                ('recipient', models.CharField(max_length=44)),
                ('currency', models.CharField(max_length=44)),
                ('amount', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
            ],
            options={
                'indexes': [models.Index(fields=['recipient', 'token'], name='claim_sum_by_recipient')],
            },
        ),
        migrations.CreateModel(
            name='AccountClaimSum',
            fields=[
                ('pk', models.CompositePrimaryKey('chain_id', 'recipient', 'currency', 'day', blank=True, editable=False, primary_key=True, serialize=False)),
                ('chain_id', models.BigIntegerField()),
                ('recipient', models.CharField(max_length=44)),
                ('currency', models.CharField(max_length=44)),
                ('day', models.DateField()),
                ('amount', tokens.models.trade.ExactNumericField(decimal_places=1000, max_digits=1000)),
            ],
        ),
        migrations.RunSQL(
            REPLACE_CONSTRAINT,
            state_operations=[
                migrations.RemoveConstraint("tokenevent", "token_event_kind_known"),
                migrations.AlterField(
                    "tokenevent",
                    "kind",
                    models.CharField(choices=[(kind, kind.replace("_", " ")) for kind in KINDS], max_length=32),
                ),
                AddConstraintNotValid(
                    "tokenevent",
                    models.CheckConstraint(condition=models.Q(kind__in=KINDS), name="token_event_kind_known"),
                ),
            ],
        ),
        load_sql("tokens/fees/collection_sums.sql", "8bfa115dd5d5"),
    ]
