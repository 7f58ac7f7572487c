import django.db.models.deletion
from django.db import migrations, models

KINDS = [
    "admin_updated",
    "image_updated",
    "metadata_updated",
    "verified",
    "reward_recipient_updated",
    "reward_admin_updated",
    "fee_preference_updated",
    "fees_collected",
    "fees_claimed",
    "team_fees_claimed",
    "vault_claimed",
    "vault_admin_updated",
    "airdrop_claimed",
    "airdrop_root_updated",
    "airdrop_admin_updated",
]
CHANGES = [
    "admin_updated",
    "image_updated",
    "metadata_updated",
    "verified",
    "reward_recipient_updated",
    "reward_admin_updated",
    "fee_preference_updated",
    "airdrop_root_updated",
    "airdrop_admin_updated",
]

# No event has been indexed yet: what the columns say now is what the launch said. Indexing it again tells the rest.
KEEP_LAUNCHES = """
INSERT INTO tokens_launchfacts (token_id, facts)
SELECT id, jsonb_build_object(
    'admin', admin,
    'image', img_url,
    'metadata', metadata::text,
    'fee_recipients', COALESCE(extensions #> '{fees,recipients}', '[]'),
    'airdrop', CASE WHEN jsonb_typeof(extensions -> 'airdrop') = 'object' THEN jsonb_build_object(
        'merkle_root', extensions #> '{airdrop,merkleRoot}', 'admin', extensions #> '{airdrop,admin}'
    ) END
)
FROM tokens_token
"""


class Migration(migrations.Migration):
    """What happened after launch: events, the fees that they paid out, and the launches beneath them."""

    dependencies = [
        ("tokens", "0004_search_by_filters"),
    ]

    operations = [
        migrations.CreateModel(
            name="LaunchFacts",
            fields=[
                (
                    "token",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE,
                        primary_key=True,
                        related_name="launch",
                        serialize=False,
                        to="tokens.token",
                    ),
                ),
                ("facts", models.JSONField()),
            ],
            options={"verbose_name_plural": "launch facts"},
        ),
        migrations.RunSQL(KEEP_LAUNCHES, migrations.RunSQL.noop),
        migrations.CreateModel(
            name="TokenEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.BigIntegerField()),
                ("tx_hash", models.CharField(max_length=100)),
                ("log_index", models.IntegerField()),
                ("block_number", models.BigIntegerField()),
                ("block_hash", models.CharField(max_length=66)),
                ("at", models.DateTimeField()),
                (
                    "kind",
                    models.CharField(choices=[(kind, kind.replace("_", " ")) for kind in KINDS], max_length=32),
                ),
                ("emitter", models.CharField(max_length=44)),
                ("arguments", models.JSONField()),
                (
                    "token",
                    models.ForeignKey(
                        blank=True,
                        db_index=False,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="events",
                        to="tokens.token",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["token", "-block_number", "-log_index"], name="token_event_newest"),
                    models.Index(
                        condition=models.Q(kind__in=CHANGES),
                        fields=["token", "block_number", "log_index"],
                        name="token_event_changes",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("chain_id", "tx_hash", "log_index"), name="token_event_once"),
                    models.CheckConstraint(condition=models.Q(kind__in=KINDS), name="token_event_kind_known"),
                ],
            },
        ),
        migrations.CreateModel(
            name="FeeClaim",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("chain_id", models.BigIntegerField()),
                ("recipient", models.CharField(max_length=44)),
                ("currency", models.CharField(max_length=44)),
                ("amount", models.DecimalField(decimal_places=0, max_digits=78)),
                ("at", models.DateTimeField()),
                (
                    "event",
                    models.ForeignKey(
                        db_index=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="claims",
                        to="tokens.tokenevent",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        models.F("chain_id"),
                        models.F("recipient"),
                        models.F("currency"),
                        models.OrderBy(models.F("at"), descending=True),
                        models.OrderBy(models.F("id"), descending=True),
                        include=("amount",),
                        name="fee_claim_newest",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("event", "recipient", "currency"), name="fee_claim_once"),
                    models.CheckConstraint(condition=models.Q(amount__gt=0), name="fee_claim_positive"),
                ],
            },
        ),
        migrations.AddField(
            model_name="token",
            name="verified_on_chain",
            field=models.BooleanField(db_default=False, default=False),
        ),
        migrations.AddIndex(
            model_name="token",
            index=models.Index(
                condition=~models.Q(admin=""),
                fields=["admin", "-deployed_at", "-id"],
                include=("blocked", "unindexed"),
                name="token_by_admin_newest",
            ),
        ),
        migrations.AddIndex(
            model_name="token",
            index=models.Index(
                condition=~models.Q(position_id=""),
                fields=["locker_address"],
                name="token_by_locker",
            ),
        ),
    ]
