"""Classification of node rejections for signed transactions. Pure.

The message decides, because nodes use one error code for most rejections. Messages are from geth and its forks
(op-geth, bsc, nitro), erigon, reth, nethermind, besu, monad and anvil; providers pass them on. The tests list them.
"""

import re

from tokens.chains.rpc.responses import CallFailure, RejectionKind
from tokens.chains.transaction_types import BroadcastStatus

_REFUSED = (
    # Encoding and signature.
    r"failed to decode|rlp: |rlp decod|rlp is too long|rlp_too_long|typed transaction too short|empty transaction data",
    r"(?:unsupported|invalid) (?:transaction|tx) type|(?:transaction|tx) type (?:is )?not supported",
    r"invalid sender|failed ?to ?(?:recover|resolve) ?sender|invalid (?:transaction )?signature|signature is invalid",
    r"invalid transaction v, r, s|replay.protected",
    r"(?:wrong|invalid|incorrect|mismatch\w*).{0,12}chain.?id",
    r"chain.?id.{0,12}(?:mismatch|not supported|required|invalid|does not match)",
    # Gas and size.
    r"intrinsic ?gas|floor data gas|gas ?uint(?:64)? ?overflow",
    r"exceeds (?:the )?block gas limit|block gas limit exceeded|gas ?limit ?(?:is )?(?:too high|exceeded)",
    r"oversized data|transaction size|init ?code",
    # Fees and a nonce that no chain accepts.
    r"priority fee per gas (?:is )?(?:higher than|exceeds)|tip (?:is )?(?:higher|above)|nonce has max value",
)
# In this order, because some texts contain others. Compiled on first use: few processes broadcast, and it takes longer
# than the rest of the library's import.
_WORDS = tuple(
    (status, "|".join(patterns))
    for status, patterns in (
        (
            BroadcastStatus.ALREADY_KNOWN,
            (
                r"already ?known|known transaction|already imported|already exists|already_exists",
                r"existing tx with same hash|already in (?:the )?(?:tx|mem)?pool",
            ),
        ),
        (
            BroadcastStatus.NONCE_SPENT,
            (r"nonce (?:is )?too low|nonce_too_low|old ?nonce|lower than the current nonce",),
        ),
        (
            BroadcastStatus.UNDERPRICED,
            (
                r"replacement transaction|replacement ?not ?allowed|could not replace|not_replaced",
                r"another transaction with same nonce|an existing transaction had higher priority",
            ),
        ),
        # Before fees that are too low: some rejections contain the texts below.
        (BroadcastStatus.REJECTED, _REFUSED),
        (
            BroadcastStatus.FEE_TOO_LOW,
            (
                r"underpriced|less than (?:the )?(?:current )?(?:block )?base ?fee|fee ?too ?low|feepergas too low",
                r"gas ?price (?:supplied )?(?:is )?(?:too low|below|less than)|tip too low",
            ),
        ),
    )
)


def classify_rejection(refusal: CallFailure) -> BroadcastStatus:
    """Return the transaction's status that a node's rejection implies; UNKNOWN where it implies nothing.

    The node's own limits (a full pool, a rate limit, a fee cap) imply nothing: another node, or the same one later, may
    accept the transaction.
    """
    if refusal.kind is RejectionKind.SENDER:
        return BroadcastStatus.INSUFFICIENT_FUNDS
    words = refusal.message.lower()
    return next((status for status, pattern in _WORDS if re.search(pattern, words)), BroadcastStatus.UNKNOWN)
