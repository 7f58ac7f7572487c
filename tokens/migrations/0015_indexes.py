from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import Q
from django.db.models.fields.json import KT
from django.db.models.lookups import IsNull

import tokens.models.expressions


CHANGES = [
    "admin_updated", "image_updated", "metadata_updated", "verified", "reward_recipient_updated",
    "reward_admin_updated", "fee_preference_updated", "airdrop_root_updated", "airdrop_admin_updated", "name_updated", "symbol_updated",
    "uri_updated", "pool_changed",
]  # fmt: skip
_LISTED = Q(blocked=False, unindexed=False)


class Migration(migrations.Migration):
    """Trusted and warned tokens, tokens by fee recipient and launchpad, launches by NFT, changes and undecodable logs.

    Built while the tables are in use.
    """

    atomic = False
    replaces = [
        ("tokens", name)
        for name in """
        0037_trusted_tokens 0047_reference_prices_by_time 0053_index_of_undecodable_requests
        0061_indexes_of_launchpads 0070_claim_sums_by_recipient
        """.split()
    ]
    dependencies = [("tokens", "0014_broadcast_errors")]

    operations = [
        AddIndexConcurrently(
            "token",
            models.Index(
                fields=["-deployed_at", "-id"],
                name="token_trusted_newest",
                condition=_LISTED & (Q(verified=True) | Q(known_interface_deployer=True)),
            ),
        ),
        AddIndexConcurrently(
            "token",
            models.Index(
                fields=["-deployed_at", "-id"], name="token_warned_newest", condition=_LISTED & ~Q(launch_warnings=[])
            ),
        ),
        AddIndexConcurrently(
            "token", GinIndex(tokens.models.expressions.FeeRecipients("extensions"), name="token_by_fee_recipient")
        ),
        AddIndexConcurrently(
            "token",
            models.Index(
                fields=["generation", "-deployed_at", "-id"], name="token_by_generation_newest", condition=_LISTED
            ),
        ),
        AddIndexConcurrently(
            "referenceprice",
            models.Index(fields=["chain_id", "pool", "at", "block_number"], name="reference_price_by_time"),
        ),
        AddIndexConcurrently(
            "launchfacts",
            models.Index(KT("facts__nft"), name="launch_by_nft", condition=Q(IsNull(KT("facts__nft"), False))),
        ),
        AddIndexConcurrently(
            "tokenevent",
            models.Index(
                condition=Q(kind__in=CHANGES), fields=["token", "block_number", "log_index"], name="token_event_folded"
            ),
        ),
        RemoveIndexConcurrently("tokenevent", "token_event_changes"),
        AddIndexConcurrently(
            "indexrequest",
            models.Index(
                condition=Q(undecodable=True),
                fields=["chain_id", "launchpad", "contract"],
                name="index_request_undecodable_by",
            ),
        ),
    ]
