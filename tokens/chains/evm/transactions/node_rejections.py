"""What a node's refusal of a signed transaction means. Pure.

By the words, because nodes use one code for most: those of geth and its kin (op-geth, bsc, nitro), erigon, reth,
nethermind, besu, monad and anvil, which providers hand on. The tests list them.
"""

import re

from tokens.chains.rpc.responses import CallFailed, Refusal
from tokens.chains.transaction_types import Verdict

_REFUSED = (
    # Its form, and its signature.
    r"failed to decode|rlp: |rlp decod|rlp is too long|rlp_too_long|typed transaction too short|empty transaction data",
    r"(?:unsupported|invalid) (?:transaction|tx) type|(?:transaction|tx) type (?:is )?not supported",
    r"invalid sender|failed ?to ?(?:recover|resolve) ?sender|invalid (?:transaction )?signature|signature is invalid",
    r"invalid transaction v, r, s|replay.protected",
    r"(?:wrong|invalid|incorrect|mismatch\w*).{0,12}chain.?id",
    r"chain.?id.{0,12}(?:mismatch|not supported|required|invalid|does not match)",
    # Its gas, and its size.
    r"intrinsic ?gas|floor data gas|gas ?uint(?:64)? ?overflow",
    r"exceeds (?:the )?block gas limit|block gas limit exceeded|gas ?limit ?(?:is )?(?:too high|exceeded)",
    r"oversized data|transaction size|init ?code",
    # Fees and a nonce that no chain takes.
    r"priority fee per gas (?:is )?(?:higher than|exceeds)|tip (?:is )?(?:higher|above)|nonce has max value",
)
# In this order, because some words are part of others'.
_WORDS = tuple(
    (verdict, re.compile("|".join(patterns)))
    for verdict, patterns in (
        (
            Verdict.KNOWN,
            (
                r"already ?known|known transaction|already imported|already exists|already_exists",
                r"existing tx with same hash|already in (?:the )?(?:tx|mem)?pool",
            ),
        ),
        (Verdict.NONCE_SPENT, (r"nonce (?:is )?too low|nonce_too_low|old ?nonce|lower than the current nonce",)),
        (
            Verdict.UNDERPRICED,
            (
                r"replacement transaction|replacement ?not ?allowed|could not replace|not_replaced",
                r"another transaction with same nonce|an existing transaction had higher priority",
            ),
        ),
        # Before fees that are too low, whose words are part of some of these.
        (Verdict.REFUSED, _REFUSED),
        (
            Verdict.FEE_TOO_LOW,
            (
                r"underpriced|less than (?:the )?(?:current )?(?:block )?base ?fee|fee ?too ?low|feepergas too low",
                r"gas ?price (?:supplied )?(?:is )?(?:too low|below|less than)|tip too low",
            ),
        ),
    )
)


def verdict_of(refusal: CallFailed) -> Verdict:
    """What a node's refusal says about the transaction, UNANSWERED where nothing follows from it.

    Limits of a node's own (its pool is full, its caller too fast, fees above its cap) say nothing: another one, or
    the same one later, may take it.
    """
    if refusal.kind is Refusal.SENDER:
        return Verdict.TOO_POOR
    words = refusal.message.lower()
    return next((verdict for verdict, pattern in _WORDS if pattern.search(words)), Verdict.UNANSWERED)
