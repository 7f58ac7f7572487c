"""Verification results by block run, and the alarms about them."""

import logging
from collections.abc import Collection
from dataclasses import dataclass

from django.db.models import F, Value
from django.db.models.functions import Greatest, Least

from tokens.models import Coverage, CoverageAlarm

logger = logging.getLogger(__name__)

# The most transactions that an alarm names.
MAX_NAMED_TRANSACTIONS = 100


@dataclass(frozen=True, kw_only=True, slots=True)
class VerifiedRun:
    """A run of verified blocks: the last one, how many, and how many rows were wrong, or stayed without a proof.

    `unproven` counts blocks whose receipts don't make the bloom filter, or whose receipts no node returned.
    """

    to: int
    blocks: int
    missing: int
    invented: int
    corrected: int
    kept: int
    unproven: int


def raise_alarm(coverage: Coverage, run: VerifiedRun, *, first: int, tx_hashes: Collection[str]) -> None:
    """Store an alarm if rows were wrong, stayed without a proof, or if headers can't prove blocks.

    Blocks without a proof, but with right rows, are a property of the chain: one alarm for each chain, which grows.
    """
    counts = {
        "missing": run.missing,
        "invented": run.invented,
        "corrected": run.corrected,
        "kept": run.kept,
        "unproven": run.unproven,
    }
    if not any(counts.values()):
        return
    wrong = {name: 0 for name in counts if name != "unproven"}
    chain = CoverageAlarm.objects.filter(chain_id=coverage.chain_id)
    is_new = any(counts[name] for name in wrong) or not (
        chain.filter(pk__in=chain.filter(**wrong).order_by("-pk").values("pk")[:1]).update(
            first_block=Least("first_block", Value(first)),
            last_block=Greatest("last_block", Value(run.to)),
            unproven=F("unproven") + run.unproven,
        )
    )
    if is_new:
        CoverageAlarm.objects.create(
            chain_id=coverage.chain_id,
            first_block=first,
            last_block=run.to,
            **counts,
            tx_hashes=sorted(tx_hashes)[:MAX_NAMED_TRANSACTIONS],
            repaired=run.kept == 0,
        )
    logger.log(
        logging.ERROR if is_new else logging.INFO,
        "chain=%s blocks=%s-%s %s: %s",
        coverage.chain_id,
        first,
        run.to,
        " ".join(f"{name}={count}" for name, count in counts.items()),
        "rows stay that nothing proved wrong" if run.kept else "repaired what nodes had omitted, invented or changed",
    )
