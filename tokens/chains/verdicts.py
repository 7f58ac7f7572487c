"""What a node's refusal of a signed transaction means. Pure.

By the words, because nodes use one code for most: those of geth and its kin (op-geth, bsc, nitro), erigon, reth,
nethermind, besu, monad and anvil, which providers hand on. The tests list them.
"""

import re

from tokens.chains.rpc_answers import CallFailed
from tokens.chains.sending import Verdict

_TOO_POOR = re.compile(
    r"insufficient ?funds|insufficient (?:sender )?balance|upfront cost exceeds|doesn't have enough funds|"
    r"not enough (?:balance|funds)|would cause overdraft|for sender balance"
)
# In this order, because some words are part of others'.
_WORDS = (
    (
        Verdict.KNOWN,
        re.compile(
            r"already ?known|known transaction|already imported|already exists|already_exists|"
            r"already in (?:the )?(?:mem)?pool"
        ),
    ),
    (Verdict.NONCE_SPENT, re.compile(r"nonce (?:is )?too low|old ?nonce|nonce_too_low")),
    (
        Verdict.UNDERPRICED,
        re.compile(
            r"replacement transaction|replacement ?not ?allowed|could not replace|not_replaced|"
            r"another transaction with same nonce|an existing transaction had higher priority"
        ),
    ),
    (Verdict.TOO_POOR, _TOO_POOR),
    # Before the fees, whose words are part of some of these.
    (
        Verdict.REFUSED,
        re.compile(
            # Its form, and its signature.
            r"invalid sender|invalid (?:transaction )?(?:v, r, s )?signature|replay.protected|"
            r"chain ?id (?:mismatch|invalid)|(?:wrong|invalid|incorrect|mismatching) ?(?:tx)?chain ?id|"
            r"(?:transaction|tx) type (?:is )?not supported|failed to decode|empty transaction data|"
            r"rlp: |rlp decod|typed transaction too short|"
            # Its gas.
            r"intrinsic ?gas|floor data gas|gas uint64 overflow|"
            r"exceeds (?:the )?block gas limit|block gas limit exceeded|gas ?limit ?(?:is )?(?:too high|exceeded)|"
            r"gas limit exceeds|gas ?limit is higher than|"
            # Its size.
            r"oversized data|transaction size|initcode|init code|rlp_too_long|"
            # Fees and a nonce that no chain takes.
            r"priority fee per gas higher than|tip (?:is )?(?:higher|above)|tip above fee cap|nonce has max value|"
            r"maxpriorityfeepergas (?:cannot|must not) exceed"
        ),
    ),
    (
        Verdict.FEE_TOO_LOW,
        re.compile(
            r"underpriced|less than (?:the )?(?:current )?(?:block )?base ?fee|fee ?too ?low|feepergas too low|"
            r"gas ?price (?:is )?(?:too low|below|less than)|below (?:the )?(?:configured )?minimum|tip too low"
        ),
    ),
)
# What contracts write comes after one of these, and could be any of the words above.
_REVERTED = re.compile(r"(?:err(?:or)?: )?(?:execution reverted|transaction reverted|reverted\b|vm exception)")


def verdict_of(refusal: CallFailed) -> Verdict:
    """What a node's refusal says about the transaction, UNANSWERED where nothing follows from it.

    Limits of a node's own (its pool is full, its caller too fast, fees above its cap) say nothing: another one, or
    the same one later, may take it.
    """
    words = _words(refusal)
    return next((verdict for verdict, pattern in _WORDS if pattern.search(words)), Verdict.UNANSWERED)


def is_too_poor(refusal: CallFailed) -> bool:
    """Whether a node refused to try a call because its sender has less than it would give away."""
    return not _REVERTED.match(refusal.message.lower()) and _TOO_POOR.search(_words(refusal)) is not None


def _words(refusal: CallFailed) -> str:
    # Nethermind's forebears, and some providers, write what it is about beside the message.
    return f"{refusal.message} {refusal.data[:200]}".lower()
