"""Whose events are believed: those of the registry's contracts, of known tokens, and of the lockers of these."""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from django.db.models import Q

from tokens.chains.evm.generations.event_decoding import DecodedEvent, EventKind, Source, decode, source_of
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import EventLog, LogUndecodable, PoolClaim, TransactionFacts
from tokens.models import Token
from tokens.models.querysets import one_of

logger = logging.getLogger(__name__)

# A claim in a currency says nothing of a token, and counts whether we know one at that address or not.
_OF_CURRENCIES = (Source.FEE_LOCKER, Source.FACTORY)

# A log and its event, or why it could not be decoded.
_Read = tuple[EventLog, DecodedEvent | LogUndecodable]


@dataclass(frozen=True, kw_only=True, slots=True)
class BelievedEvent:
    """An event whose emitter is vouched for, and the token that it is about, where it is about one that we know."""

    tx_hash: str
    event: DecodedEvent
    token: Token | None


def believe(transactions: Iterable[TransactionFacts], *, chain: ChainInfo) -> list[BelievedEvent]:
    """The events of transactions that are not made up, and are about tokens that we know or currencies; in order.

    One query. A malformed log of an emitter that is vouched for is left out, and the log file tells: whatever else
    the transaction holds, a launch above all, is not to be lost for it.
    """
    read = [(facts.tx_hash, *_read(log)) for facts in transactions for log in facts.event_logs]
    if not read:
        return []
    tokens = _Tokens.named_by([(log, event) for _, log, event in read], chain=chain)
    believed = []
    for tx_hash, log, event in read:
        if isinstance(event, LogUndecodable):
            if tokens.vouch_for(log):
                logger.error("chain %s: an event of %s is left out: %s", chain.chain_id, log.emitter, event)
            continue
        is_ours, token = tokens.find(event)
        if is_ours:
            believed.append(BelievedEvent(tx_hash=tx_hash, event=event, token=token))
    return believed


def pool_currencies(token: Token) -> tuple[str, str]:
    """The currencies of a token's pool in their order, which is that of their numbers."""
    low, high = sorted((token.contract_address, token.paired_token), key=str.lower)
    return low, high


def _names(event: DecodedEvent, token: Token) -> bool:
    """Whether an event with a pool's currencies is about this one of its locker's tokens."""
    position_id = token.position_id if event.position_id is None else str(event.position_id)
    return set(event.pair or ()) == set(pool_currencies(token)) and position_id == token.position_id


def _read(log: EventLog) -> _Read:
    try:
        return log, decode(log)
    except LogUndecodable as error:
        return log, error


@dataclass(frozen=True, kw_only=True)
class _Tokens:
    """Known tokens that the logs of transactions may be about."""

    chain: ChainInfo
    by_address: Mapping[str, Token]
    by_locker: Mapping[str, list[Token]]

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
        # Lockers that many tokens share are in the registry, and need nobody else to vouch for them.
        lockers.difference_update(chain.addresses("locker"))
        named = Q(one_of("contract_address", addresses))
        if lockers:
            named |= Q(locker_address__in=lockers) & ~Q(position_id="")
        columns = ("contract_address", "locker_address", "position_id", "paired_token")
        by_locker = defaultdict[str, list[Token]](list)
        found = Token.objects.launched_on(chain.chain_id).filter(named).only(*columns).order_by("pk")
        for token in found:
            by_locker[token.locker_address].append(token)
        return cls(chain=chain, by_address={token.contract_address: token for token in found}, by_locker=by_locker)

    def vouch_for(self, log: EventLog) -> bool:
        """Whether the log's emitter is one that emits such events honestly."""
        source = source_of(log)
        if source is Source.ITSELF:
            return log.emitter in self.by_address
        if source is Source.ITS_LOCKER:
            return log.emitter in self.chain.addresses("locker") or log.emitter in self.by_locker
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
        if event.pair is None:
            token = self.by_address.get(event.token or "")
            return token if token and token.locker_address == event.emitter else None
        if event.names_no_pair:
            # Where a locker has more than one token, nothing tells which of them is meant.
            of_locker = [token for token in self.by_locker.get(event.emitter, ()) if token.position_id]
            is_its_own = len(of_locker) == 1 and event.emitter not in self.chain.addresses("locker")
            return of_locker[0] if is_its_own else None
        launched = [token for currency in event.pair if (token := self.by_address.get(currency))]
        named = (token for token in launched if token.locker_address == event.emitter and _names(event, token))
        return min(named, key=lambda token: token.pk, default=None)


# Which claims of Solana's pools are kept: those that the launch program told, of pools of tokens that are known.
def believe_claims(transactions: Iterable[TransactionFacts], *, chain: ChainInfo) -> list[BelievedEvent]:
    """The claims of transactions as events of their pools' tokens, in order; a pool that is nobody's of ours has none.

    One query.
    """
    programs = chain.addresses("launch_program")
    claims = [
        (facts.tx_hash, claim) for facts in transactions for claim in facts.pool_claims if claim.program in programs
    ]
    if not claims:
        return []
    pools = {claim.pool for _, claim in claims}
    launched = Token.objects.launched_on(chain.chain_id).exclude(pool_address="").filter(one_of("pool_address", pools))
    tokens = {token.pool_address: token for token in launched.only("contract_address", "pool_address", "paired_token")}
    return [
        BelievedEvent(tx_hash=tx_hash, event=_event(claim), token=tokens[claim.pool])
        for tx_hash, claim in claims
        if claim.pool in tokens
    ]


def _event(claim: PoolClaim) -> DecodedEvent:
    return DecodedEvent(
        kind=EventKind.FEES_CLAIMED,
        source=Source.POOL,
        emitter=claim.program,
        log_index=claim.log_index,
        arguments={
            "pool": claim.pool,
            "paid_to": claim.paid_to,
            "claimer": claim.claimer,
            "amounts": dict(claim.amounts),
        },
    )
