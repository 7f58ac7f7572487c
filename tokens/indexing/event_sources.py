"""Trusted event emitters: registry contracts, indexed tokens, their lockers and pools, and the launch program."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

from django.db.models import Q
from django.db.models.fields.json import KT

from tokens.chains.errors import LogDecodingError
from tokens.chains.evm.generations.event_decoding import (
    DecodedEvent,
    EventKind,
    EventSource,
    decode_event,
    event_source,
)
from tokens.chains.pool_types import UndecodableLog
from tokens.chains.registry.chains import ChainInfo
from tokens.chains.types import EventLog, PoolClaim, TransactionFacts
from tokens.installation.installed_launchpads import launchpad_of
from tokens.models import LaunchFacts, Token, TokenPool
from tokens.models.expressions import equals_any

# A claim in a currency is about no token, and counts whether a token is indexed at that address or not.
_CURRENCY_SOURCES = (EventSource.FEE_LOCKER, EventSource.FEE_SPENDER, EventSource.FACTORY)

# A log and its event, or the reason why it could not be decoded.
_Read = tuple[EventLog, DecodedEvent | LogDecodingError]


@dataclass(frozen=True, kw_only=True, slots=True)
class TrustedEvent:
    """An event from a trusted emitter, and the indexed token that it concerns, if any."""

    tx_hash: str
    event: DecodedEvent
    token: Token | None


def filter_trusted(
    transactions: Iterable[TransactionFacts], *, chain: ChainInfo
) -> tuple[list[TrustedEvent], list[UndecodableLog]]:
    """Return events from trusted emitters about indexed tokens or currencies, in chain order.

    One query, and few more for declared events by pools, NFTs and hooks.

    Malformed logs from trusted emitters are returned, too: the rest of such a transaction, a launch above all, must not
    be lost.
    """
    read = [(facts, *_read(log)) for facts in transactions for log in facts.event_logs]
    if not read:
        return [], []
    tokens = _Tokens.named_by([(log, event) for _, log, event in read], chain=chain)
    trusted, undecodable = [], []
    # Another declaration of the same event, with other indexed arguments, may decode the log.
    decoded = {(facts.tx_hash, log.log_index) for facts, log, event in read if isinstance(event, DecodedEvent)}
    for facts, log, event in read:
        if isinstance(event, LogDecodingError):
            if (facts.tx_hash, log.log_index) not in decoded and tokens.is_trusted(log):
                undecodable.append(_undecodable(facts, log, event, tokens))
            continue
        is_ours, token = tokens.match(event)
        if is_ours:
            trusted.append(TrustedEvent(tx_hash=facts.tx_hash, event=event, token=token))
    return trusted, undecodable


def pool_currencies(token: Token) -> tuple[str, str]:
    """Return the token pool's currencies, sorted by address as a number."""
    low, high = sorted((token.contract_address, token.paired_token), key=str.lower)
    return low, high


def _only_position(event: DecodedEvent) -> tuple[str, str] | None:
    """Return locker and LP NFT id for an event that names nothing else; None for other events."""
    if event.token or event.pair or event.position_id is None:
        return None
    return event.emitter, str(event.position_id)


def _names(event: DecodedEvent, token: Token) -> bool:
    """Return whether an event with a pool's currencies concerns this token in its locker."""
    position_id = token.position_id if event.position_id is None else str(event.position_id)
    return set(event.pair or ()) == set(pool_currencies(token)) and position_id == token.position_id


def _read(log: EventLog) -> _Read:
    try:
        return log, decode_event(log)
    except LogDecodingError as error:
        return log, error


def _undecodable(facts: TransactionFacts, log: EventLog, error: LogDecodingError, tokens: "_Tokens") -> UndecodableLog:
    return UndecodableLog(
        block_number=facts.block_number,
        tx_hash=facts.tx_hash,
        log_index=log.log_index,
        emitter=log.emitter,
        launchpad=tokens.launchpad_of(log),
        reason=str(error),
    )


@dataclass(frozen=True, kw_only=True)
class _Tokens:
    """The indexed tokens that transaction logs may concern."""

    chain: ChainInfo
    by_address: Mapping[str, Token]
    by_locker: Mapping[str, list[Token]]
    # For declared events.
    by_pool: Mapping[str, Token]
    by_nft: Mapping[str, Token]
    # Token ids, each with a hook from one of its pools.
    hooks: AbstractSet[tuple[int, str]]

    @classmethod
    def named_by(cls, read: Sequence[_Read], *, chain: ChainInfo) -> "_Tokens":
        addresses, lockers, positions = set[str](), set[str](), set[tuple[str, str]]()
        for log, event in read:
            if isinstance(event, LogDecodingError):
                (addresses if event_source(log) is EventSource.ITSELF else lockers).add(log.emitter)
            elif event.pool or event.nft:
                continue
            elif event.names_no_pair:
                lockers.add(event.emitter)
            elif position := _only_position(event):
                positions.add(position)
            else:
                addresses.update(event.pair or (event.token or event.emitter,))
        # Lockers that many tokens share are in the registry, and are trusted without a token.
        lockers.difference_update(chain.addresses("locker"))
        named = Q(equals_any("contract_address", addresses))
        if lockers:
            named |= Q(locker_address__in=lockers) & ~Q(position_id="")
        if positions:
            emitters, ids = zip(*positions, strict=True)
            named |= (
                equals_any("locker_address", set(emitters)) & equals_any("position_id", set(ids)) & ~Q(position_id="")
            )
        columns = (*_COLUMNS, "locker_address", "position_id")
        by_locker = defaultdict[str, list[Token]](list)
        tokens = Token.objects.launched_on(chain.chain_id).filter(named).only(*columns).order_by("pk")
        for each in tokens:
            by_locker[each.locker_address].append(each)
        by_address = {token.contract_address: token for token in tokens}
        declared = [event for _, event in read if isinstance(event, DecodedEvent) and event.launchpad]
        by_pool = _tokens_of_pools(chain, {event.pool for event in declared if event.pool})
        # Moves that are not written yet.
        moves = [
            (mover, event.arguments)
            for event in declared
            if event.kind is EventKind.POOL_CHANGED
            and (mover := by_address.get(event.token or ""))
            and mover.generation == event.launchpad
        ]
        by_pool = {values["pool"]: token for token, values in moves} | by_pool
        by_nft = _tokens_of_nfts(chain, {event.nft for event in declared if event.nft})
        hooks = set[tuple[int, str]]()
        if any(event.source is EventSource.HOOK for event in declared):
            hooks = _hooks_of([*tokens, *by_pool.values()])
            hooks |= {(token.pk, values["hook"]) for token, values in moves}
        return cls(chain=chain, by_address=by_address, by_locker=by_locker, by_pool=by_pool, by_nft=by_nft, hooks=hooks)

    def is_trusted(self, log: EventLog) -> bool:
        """Return whether the log's emitter is trusted."""
        source = event_source(log)
        if source is EventSource.LAUNCHPAD:
            return True
        if source is EventSource.ITSELF:
            token = self.by_address.get(log.emitter)
            return token is not None and (log.declared is None or log.declared.launchpad == token.generation)
        if source is EventSource.ITS_LOCKER:
            return log.emitter in self.chain.addresses("locker") or log.emitter in self.by_locker
        return log.emitter in self.chain.addresses(source.value)

    def launchpad_of(self, log: EventLog) -> str:
        """Return the launchpad for a trusted log's emitter; empty for a contract that several launchpads may share."""
        if log.declared:
            return log.declared.launchpad
        token = self.by_address.get(log.emitter) or next(iter(self.by_locker.get(log.emitter, ())), None)
        contract = self.chain.registered.get(log.emitter.lower())
        generation = token.generation if token else contract.generation.name if contract and contract.generation else ""
        return launchpad_of(generation).name

    def match(self, event: DecodedEvent) -> tuple[bool, Token | None]:
        """Return whether the event is trusted, and the token that it concerns."""
        if event.source is EventSource.ITS_LOCKER:
            token = self._by_locker(event)
            return token is not None, token
        if event.launchpad:
            token = self._of_declared(event)
            return token is not None, token
        token = self.by_address.get(event.token or "")
        if event.source is EventSource.ITSELF:
            return token is not None, token
        is_ours = event.emitter in self.chain.addresses(event.source.value)
        return is_ours and (token is not None or event.source in _CURRENCY_SOURCES), token

    def _of_declared(self, event: DecodedEvent) -> Token | None:
        """Return a declared event's token, if the event is from its launchpad, and the emitter is one of its hooks."""
        if event.nft:
            token = self.by_nft.get(event.nft)
        else:
            token = self.by_pool.get(event.pool) if event.pool else self.by_address.get(event.token or "")
        if token is None or token.generation != event.launchpad:
            return None
        is_trusted = event.source is not EventSource.HOOK or (token.pk, event.emitter) in self.hooks
        return token if is_trusted else None

    def _by_locker(self, event: DecodedEvent) -> Token | None:
        """Return the token for a locker's event: the token with this locker in its launch."""
        if position := _only_position(event):
            of_locker = self.by_locker.get(event.emitter, [])
            return next((token for token in of_locker if (token.locker_address, token.position_id) == position), None)
        if event.pair is None:
            token = self.by_address.get(event.token or "")
            return token if token and token.locker_address == event.emitter else None
        if event.names_no_pair:
            # If a locker has more than one token, the event identifies none.
            of_locker = [token for token in self.by_locker.get(event.emitter, ()) if token.position_id]
            is_its_own = len(of_locker) == 1 and event.emitter not in self.chain.addresses("locker")
            return of_locker[0] if is_its_own else None
        launched = [token for currency in event.pair if (token := self.by_address.get(currency))]
        named = (token for token in launched if token.locker_address == event.emitter and _names(event, token))
        return min(named, key=lambda token: token.pk, default=None)


_COLUMNS = ("chain_id", "contract_address", "generation", "paired_token")


def _tokens_of_pools(chain: ChainInfo, pools: AbstractSet[str]) -> dict[str, Token]:
    """Return pool -> its present or former token. No query without a pool."""
    if not pools:
        return {}
    launched = Token.objects.launched_on(chain.chain_id).only(*_COLUMNS, "pool_address")
    # The index on pools leaves out tokens without one, which a long list of texts does not imply to the planner.
    of_present = launched.exclude(pool_address="").filter(equals_any("pool_address", pools))
    of_any = TokenPool.objects.filter(equals_any("pool_address", pools), token__in=launched)
    former = {pool.pool_address: pool.token for pool in of_any}
    return former | {token.pool_address: token for token in of_present}


def _tokens_of_nfts(chain: ChainInfo, nfts: AbstractSet[str]) -> dict[str, Token]:
    """Return NFT, as `contract/id` -> the token whose launch minted it. Two queries, none without an NFT."""
    if not nfts:
        return {}
    launches = LaunchFacts.objects.annotate(nft=KT("facts__nft")).filter(equals_any("nft", nfts), nft__isnull=False)
    nft_by_token_id = dict(launches.filter(token__chain_id=chain.chain_id).values_list("token_id", "nft"))
    tokens = Token.objects.only(*_COLUMNS).in_bulk(nft_by_token_id)
    return {nft: tokens[token_id] for token_id, nft in nft_by_token_id.items()}


def _hooks_of(tokens: Sequence[Token]) -> set[tuple[int, str]]:
    """Return each token's id with its pools' hooks. Two queries, none without a token."""
    if not tokens:
        return set()
    first = LaunchFacts.objects.filter(token__in=tokens).values_list("token_id", KT("facts__pool__hook"))
    later = TokenPool.objects.filter(token__in=tokens).values_list("token_id", "hook")
    return {(token_id, hook) for token_id, hook in (*first, *later) if hook}


def trusted_pool_claims(transactions: Iterable[TransactionFacts], *, chain: ChainInfo) -> list[TrustedEvent]:
    """Return the transactions' pool claims as events of the pools' tokens, in order. One query.

    A claim counts only if the launch program has logged it, and an indexed token has the pool.
    """
    programs = chain.addresses("launch_program")
    claims = [
        (facts.tx_hash, claim) for facts in transactions for claim in facts.pool_claims if claim.program in programs
    ]
    if not claims:
        return []
    pools = {claim.pool for _, claim in claims}
    launched = (
        Token.objects.launched_on(chain.chain_id).exclude(pool_address="").filter(equals_any("pool_address", pools))
    )
    tokens = {token.pool_address: token for token in launched.only("contract_address", "pool_address", "paired_token")}
    return [
        TrustedEvent(tx_hash=tx_hash, event=_event(claim), token=tokens[claim.pool])
        for tx_hash, claim in claims
        if claim.pool in tokens
    ]


def _event(claim: PoolClaim) -> DecodedEvent:
    return DecodedEvent(
        kind=EventKind.FEES_CLAIMED,
        source=EventSource.POOL,
        emitter=claim.program,
        log_index=claim.log_index,
        arguments={
            "pool": claim.pool,
            "paid_to": claim.paid_to,
            "claimer": claim.claimer,
            "amounts": dict(claim.amounts),
        },
    )
