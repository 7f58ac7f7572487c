import django.db.models.deletion
import django.db.models.functions.datetime
import django.utils.timezone
from django.db import migrations, models

from accounts.operators import roles

SEE = ("tokens.view_providerrefresh",)
PERMISSIONS = {roles.OPERATOR: SEE, roles.SUPPORT: SEE}


def add_rows(columns, values):
    """Return the trigger function that adds a market and a search entry to each new token."""
    return f"""
CREATE OR REPLACE FUNCTION add_rows_of_tokens() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO tokens_market ({columns}) SELECT {values} FROM added ON CONFLICT DO NOTHING;
    INSERT INTO tokens_searchentry (token_id, is_listed, text, deployed_at, chain_id, msg_sender, requestor_fid,
        champagne, pair, paired_token, pool_address, interface)
        SELECT id, NOT (blocked OR unindexed), lower(name) || E'\\n' || lower(symbol), deployed_at, chain_id, msg_sender,
            requestor_fid, champagne, lower(pair), paired_token, pool_address,
            COALESCE("left"(lower(social_context ->> 'interface'), 101), '')
        FROM added ON CONFLICT DO NOTHING;
    RETURN NULL;
END
$$;
"""


class Migration(migrations.Migration):
    """Refreshes by the provider in a queue of their own, which only tokens of its chains are in; no price history."""

    dependencies = [("accounts", "0004_roles"), ("tokens", "0027_rolling_sums")]

    operations = [
        migrations.CreateModel(
            name="ProviderRefresh",
            fields=[
                (
                    "due_at",
                    models.DateTimeField(
                        db_default=django.db.models.functions.datetime.Now(), default=django.utils.timezone.now
                    ),
                ),
                ("leased_until", models.DateTimeField(blank=True, null=True)),
                ("attempts", models.PositiveIntegerField(db_default=0, default=0)),
                ("unfinished", models.IntegerField(db_default=0, default=0)),
                ("last_error", models.TextField(blank=True, db_default="", default="")),
                (
                    "token",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="provider_refresh",
                        serialize=False,
                        to="tokens.token",
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "provider refreshes",
                "indexes": [models.Index(fields=["due_at"], name="provider_refresh_due")],
            },
        ),
        roles.grant(PERMISSIONS),
        migrations.RunSQL(
            add_rows("token_id", "id"),
            add_rows("token_id, priority", "id, CASE WHEN deployed_at > now() - interval '1 day' THEN 1 ELSE 3 END"),
        ),
        migrations.RemoveIndex("market", "market_due"),
        migrations.RemoveField("market", "due_at"),
        migrations.RemoveField("market", "leased_until"),
        migrations.RemoveField("market", "attempts"),
        migrations.RemoveField("market", "unfinished"),
        migrations.RemoveField("market", "last_error"),
        migrations.RemoveField("market", "priority"),
        migrations.RemoveField("market", "viewed_at"),
        migrations.RemoveField("market", "by_address"),
        migrations.DeleteModel("MarketPoint"),
    ]
