"""Daily fee sums for events that were stored before the triggers that maintain these sums.

Triggers and fill have the same statements, in `collection_sums.sql` and `claim_sums.sql`.
"""

import time
from collections.abc import Collection

from django.db import connection, transaction

from tokens.indexing import chain_lock
from tokens.models import ALL_BLOCKS, FeeSumProgress

# Events per database transaction, besides the rest of its last block. The chain's writers wait for it.
BATCH = 2_000
_LAST_BLOCK = """
SELECT block_number FROM tokens_tokenevent WHERE chain_id = %s AND block_number > %s
ORDER BY block_number OFFSET %s LIMIT 1
"""


def summed_chains(chain_ids: Collection[int]) -> set[int]:
    """Return the chains with all events in the sums."""
    complete = FeeSumProgress.objects.filter(pk__in=chain_ids, summed_to=ALL_BLOCKS)
    return set(complete.values_list("pk", flat=True))


def fill_sums(chain_ids: Collection[int], *, seconds: float) -> set[int]:
    """Add stored events to the sums, for about `seconds`. Return the chains that are now complete."""
    end = time.monotonic() + seconds
    complete = set()
    for chain_id in sorted(set(chain_ids) - summed_chains(chain_ids)):
        while chain_id not in complete and time.monotonic() < end:
            if fill_next_blocks(chain_id):
                complete.add(chain_id)
    return complete


def fill_next_blocks(chain_id: int, *, batch: int = BATCH) -> bool:
    """Add a chain's next blocks to the sums, about `batch` events. Return whether these were the last."""
    with transaction.atomic():
        # The lock excludes writers in flight: their triggers see the progress either before or after this batch.
        chain_lock.lock_exclusive(chain_id)
        progress, _ = FeeSumProgress.objects.get_or_create(pk=chain_id, defaults={"summed_to": -1})
        after, last_block = progress.summed_to, ALL_BLOCKS
        with connection.cursor() as cursor:
            cursor.execute(_LAST_BLOCK, [chain_id, after, batch - 1])
            for (number,) in cursor.fetchall():
                last_block = number
            progress.summed_to = last_block
            progress.save()
            for name in ("fill_collections", "fill_claims"):
                cursor.execute(f"SELECT {name}(%s, %s, %s)", [chain_id, after, last_block])
    return last_block == ALL_BLOCKS
