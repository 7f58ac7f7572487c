from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.operations import AddIndexConcurrently
from django.db import migrations, models
from django.db.models import Q

import tokens.models.expressions

_LISTED = Q(blocked=False, unindexed=False)


class Migration(migrations.Migration):
    """Trusted tokens, tokens with warnings and tokens by recipient of fees, by indexes built while the table is used."""

    atomic = False
    dependencies = [("tokens", "0036_market_events")]

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
            "token",
            GinIndex(tokens.models.expressions.FeeRecipients("extensions"), name="token_by_fee_recipient"),
        ),
    ]
