"""Whose events are believed: those of the registry's contracts, of known tokens, and of the lockers of these."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Q

from tokens.chains.base import EventLog, LogUndecodable
from tokens.chains.events import DecodedEvent, Source, decode, source_of
from tokens.chains.registry import ChainInfo
from tokens.models import Token

logger = logging.getLogger(__name__)

# A claim in a currency says nothing of a token, and counts whether we know one at that address or not.
_OF_CURRENCIES = (Source.FEE_LOCKER, Source.FACTORY)

# A log and its event, or why it could not be decoded.
_Read = tuple[EventLog, DecodedEvent | LogUndecodable]


@dataclass(frozen=True, kw_only=True, slots=True)
class BelievedEvent:
    """An event whose emitter is vouched for, and the token that it is about, where it is about one that we know."""

    event: DecodedEvent
    token: Token | None


def believe(logs: Sequence[EventLog], *, chain: ChainInfo) -> list[BelievedEvent]:
    """The events among a transaction's logs that are not made up, and are about tokens that we know or currencies.

    One query. A malformed log of an emitter that is vouched for is left out, and the log file tells: whatever else
    the transaction holds, a launch above all, is not to be lost for it.
    """
    if not logs:
        return []
    read = [_read(log) for log in logs]
    tokens = _Tokens.named_by(read, chain=chain)
    believed = []
    for log, event in read:
        if isinstance(event, LogUndecodable):
            if tokens.vouch_for(log):
                logger.error("chain %s: an event of %s is left out: %s", chain.chain_id, log.emitter, event)
            continue
        is_ours, token = tokens.find(event)
        if is_ours:
            believed.append(BelievedEvent(event=event, token=token))
    return believed


def pool_currencies(token: Token) -> tuple[str, str]:
    """The currencies of a token's pool in their order, which is that of their numbers."""
    low, high = sorted((token.contract_address, token.paired_token), key=str.lower)
    return low, high


def _names(event: DecodedEvent, token: Token) -> bool:
    """Whether a locker's event is about this one of its tokens."""
    if event.pair is None:
        return event.token == token.contract_address
    position_id = token.position_id if event.position_id is None else str(event.position_id)
    return set(event.pair) == set(pool_currencies(token)) and position_id == token.position_id


def _read(log: EventLog) -> _Read:
    try:
        return log, decode(log)
    except LogUndecodable as error:
        return log, error


@dataclass(frozen=True, kw_only=True)
class _Tokens:
    """Known tokens that the logs of a transaction may be about."""

    chain: ChainInfo
    by_address: dict[str, Token]

    @classmethod
    def named_by(cls, read: Iterable[_Read], *, chain: ChainInfo) -> "_Tokens":
        addresses, lockers = set[str](), set[str]()
        for log, event in read:
            if isinstance(event, LogUndecodable):
                (addresses if source_of(log) is Source.ITSELF else lockers).add(log.emitter)
            elif event.names_no_pair:
                lockers.add(event.emitter)
            else:
                addresses.update(event.pair or (event.token or event.emitter,))
        tokens = Token.objects.launched_on(chain.chain_id).filter(
            Q(contract_address__in=addresses)
            # Lockers that many tokens share are in the registry, and need nobody else to vouch for them.
            | Q(locker_address__in=lockers.difference(chain.addresses("locker"))) & ~Q(position_id="")
        )
        found = tokens.only("contract_address", "locker_address", "position_id", "paired_token")
        return cls(chain=chain, by_address={token.contract_address: token for token in found})

    def vouch_for(self, log: EventLog) -> bool:
        """Whether the log's emitter is one that emits such events honestly."""
        source = source_of(log)
        if source is Source.ITSELF:
            return log.emitter in self.by_address
        if source is Source.ITS_LOCKER:
            return log.emitter in self.chain.addresses("locker") or bool(self._of_locker(log.emitter))
        return log.emitter in self.chain.addresses(source.value)

    def find(self, event: DecodedEvent) -> tuple[bool, Token | None]:
        """Whether the event counts, and for which token."""
        if event.source is Source.ITS_LOCKER:
            token = self._by_locker(event)
            return token is not None, token
        token = self.by_address.get(event.token or "")
        if event.source is Source.ITSELF:
            return token is not None, token
        is_ours = event.emitter in self.chain.addresses(event.source.value)
        return is_ours and (token is not None or event.source in _OF_CURRENCIES), token

    def _by_locker(self, event: DecodedEvent) -> Token | None:
        """The token whose launch named this locker, and of which the event speaks."""
        of_locker = self._of_locker(event.emitter)
        if event.names_no_pair:
            # Where a locker has more than one token, nothing tells which of them is meant.
            is_its_own = len(of_locker) == 1 and event.emitter not in self.chain.addresses("locker")
            return of_locker[0] if is_its_own else None
        return next((token for token in of_locker if _names(event, token)), None)

    def _of_locker(self, locker: str) -> list[Token]:
        return [token for token in self.by_address.values() if token.locker_address == locker]
