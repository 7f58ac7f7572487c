"""Comparison between the service's rows and a simulated chain's truth, in both directions."""

from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime

from tests.rows.fee_sums import counted_sums, stored_sums, sum_chain
from tests.simulator.trade_comparing import compare_rows, trade_differences
from tests.simulator.truth import EventTruth, Json, TokenTruth, Truth
from tokens.models import FeeClaim, Token, TokenEvent

_PLACED = ("tx_hash", "log_index", "block_number", "block_hash")


def differences(truth: Truth, *, chain_id: int, above: int = -1, with_trades: bool = True) -> list[str]:
    """Return the missing, superfluous and different rows, one line each; no lines mean equality.

    Blocks up to `above` have not been read; the truth must cover the blocks above it.
    """
    rows = {
        token.contract_address: _token_row(token)
        for token in Token.objects.filter(chain_id=chain_id, unindexed=False, block_number__gt=above)
    }
    expected = {address: _token_truth(token) for address, token in truth.tokens.items()}
    found = list(compare_rows("token", expected, rows))
    events = {
        (event.tx_hash, event.log_index): _event_row(event)
        for event in TokenEvent.objects.filter(chain_id=chain_id, block_number__gt=above).select_related("token")
    }
    found += compare_rows("event", {_place(event): _event_truth(event) for event in truth.events}, events)
    found += _compare_claims(truth.events, chain_id)
    found += _compare_sums(chain_id)
    return found + trade_differences(truth, chain_id=chain_id, above=above) if with_trades else found


def _place(event: EventTruth) -> tuple[str, int]:
    return event.at.tx_hash, event.at.log_index


def _token_truth(token: TokenTruth) -> Json:
    placed = {name: getattr(token.at, name) for name in _PLACED}
    extensions = token.extensions
    fees = extensions["fees"] | {"recipients": [share.row() for share in token.shares]}
    at = datetime.fromtimestamp(token.at.block_time, UTC)
    return placed | token.columns | {"deployed_at": at} | extensions | {"fees": fees}


def _token_row(token: Token) -> Json:
    fields = {field.name: getattr(token, field.name) for field in Token._meta.concrete_fields}
    extensions = dict(token.extensions)
    for name in ("vault", "airdrop"):
        if extensions[name]:
            lockup = extensions[name]["lockup"]
            started = int(datetime.fromisoformat(lockup["startedAt"]).timestamp())
            extensions[name] = extensions[name] | {"lockup": lockup | {"startedAt": started}}
    return fields | extensions


def _event_truth(event: EventTruth) -> Json:
    happening = event.happening
    return {
        "kind": happening.kind,
        "block_number": event.at.block_number,
        "block_hash": event.at.block_hash,
        "tx_hash": event.at.tx_hash,
        "at": datetime.fromtimestamp(event.at.block_time, UTC),
        "emitter": happening.emitter,
        "token": happening.token,
        "arguments": happening.arguments,
    }


def _event_row(event: TokenEvent) -> Json:
    names = ("kind", "block_number", "block_hash", "tx_hash", "at", "emitter", "arguments")
    token = event.token and event.token.contract_address
    return {name: getattr(event, name) for name in names} | {"token": token}


def _compare_sums(chain_id: int) -> Iterable[str]:
    """Yield the fee sums that differ from the stored events' sums, which equal the truth's."""
    sum_chain(chain_id)
    stored, counted = stored_sums(chain_id=chain_id), counted_sums(chain_id=chain_id)
    for kind in counted._fields:
        expected, sums = getattr(counted, kind), getattr(stored, kind)
        for key in expected.keys() | sums.keys():
            if expected.get(key) != sums.get(key):
                yield f"sum of {kind} {key} is {sums.get(key)} and should be {expected.get(key)}"


def _compare_claims(events: Iterable[EventTruth], chain_id: int) -> Iterable[str]:
    expected = Counter(
        (*_place(event), *claim, event.at.block_time) for event in events for claim in event.happening.claims
    )
    rows = Counter(
        (
            claim.event.tx_hash,
            claim.event.log_index,
            claim.recipient,
            claim.currency,
            int(claim.amount),
            int(claim.at.timestamp()),
        )
        for claim in FeeClaim.objects.filter(chain_id=chain_id).select_related("event")
    )
    for kind, rest in (("is missing", expected - rows), ("is invented", rows - expected)):
        for claim in rest:
            yield f"claim {claim} {kind}"
