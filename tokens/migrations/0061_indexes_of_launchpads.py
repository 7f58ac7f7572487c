from django.contrib.postgres.operations import AddIndexConcurrently, RemoveIndexConcurrently
from django.db import migrations, models
from django.db.models import Q
from django.db.models.fields.json import KT
from django.db.models.lookups import IsNull

CHANGES = [
    "admin_updated", "image_updated", "metadata_updated", "verified", "reward_recipient_updated",
    "reward_admin_updated", "fee_preference_updated", "airdrop_root_updated", "airdrop_admin_updated", "name_updated", "symbol_updated",
    "uri_updated", "pool_changed",
]  # fmt: skip


class Migration(migrations.Migration):
    """Tokens of a launchpad, launches by NFT, changes of tokens, and undecodable logs: built without a lock."""

    atomic = False
    dependencies = [("tokens", "0060_undecodable_logs")]

    operations = [
        AddIndexConcurrently(
            "token",
            models.Index(
                fields=["generation", "-deployed_at", "-id"],
                name="token_by_generation_newest",
                condition=Q(blocked=False, unindexed=False),
            ),
        ),
        AddIndexConcurrently(
            "launchfacts",
            models.Index(KT("facts__nft"), name="launch_by_nft", condition=Q(IsNull(KT("facts__nft"), False))),
        ),
        AddIndexConcurrently(
            "tokenevent",
            models.Index(
                condition=Q(kind__in=CHANGES),
                fields=["token", "block_number", "log_index"],
                name="token_event_folded",
            ),
        ),
        RemoveIndexConcurrently("tokenevent", "token_event_changes"),
        AddIndexConcurrently(
            "indexrequest",
            models.Index(
                condition=Q(("undecodable", True)),
                fields=["chain_id", "launchpad", "contract"],
                name="index_request_undecodable_by",
            ),
        ),
        RemoveIndexConcurrently("indexrequest", "index_request_undecodable"),
    ]
