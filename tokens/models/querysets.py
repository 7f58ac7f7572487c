"""The read language of tokens and index requests."""

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Any, Self

from django.db.models import (
    BooleanField,
    Case,
    Count,
    Exists,
    F,
    Func,
    IntegerField,
    Min,
    OuterRef,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.fields.json import KT
from django.db.models.functions import Left, Lower
from django.utils import timezone

from tokens.market.refresh_schedule import Priority

if TYPE_CHECKING:
    from tokens.models import IndexRequest, Market, SearchEntry, Token

# The interface that a launch came by, for comparison. Cut, because launchers write any text and index entries have a
# limit; by one character more than anybody may ask for, so that a longer one never looks the same.
LONGEST_INTERFACE = 100
INTERFACE = Left(Lower(KT("social_context__interface")), LONGEST_INTERFACE + 1)


def one_of(column: str, texts: Iterable[str]) -> Func:
    """The condition `column__in=texts` with one parameter, which any number of texts may be in.

    The array is written here as PostgreSQL reads it: psycopg takes several us for each element of a list.
    """
    quoted = ",".join(['"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"' for text in texts])
    return Func(
        F(column),
        Value(f"{{{quoted}}}"),
        template="(%(expressions)s::text[]))",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )


class TokenQuerySet(QuerySet["Token"]):
    """Tokens, by what callers ask for."""

    def on_chain(self) -> Self:
        """Tokens whose launch is in a block that we know of."""
        return self.filter(unindexed=False)

    def listed(self) -> Self:
        """Tokens that public lists show."""
        return self.on_chain().filter(blocked=False)

    def with_copies(self) -> Self:
        """Adds `possible_copy`: whether an older verified or champagne token has the same name and symbol."""
        older = self.model._default_manager.filter(
            Q(verified=True) | Q(champagne=True),
            copy_key=OuterRef("copy_key"),
            deployed_at__lt=OuterRef("deployed_at"),
        )
        return self.annotate(possible_copy=Exists(older))

    def in_pool_or_paired_with(self, address: str) -> Self:
        """Tokens of a pool, or whose paired token is at an address, in its stored form."""
        return self.filter(Q(pool_address=address) | Q(paired_token=address))

    def paired(self, symbol: str) -> Self:
        """Tokens whose paired token has this symbol, in any case."""
        return self.alias(pair_key=Lower("pair")).filter(pair_key=Lower(Value(symbol)))

    def launched_by_interface(self, interface: str) -> Self:
        """Tokens whose launch came by this interface, in any case."""
        return self.alias(interface=INTERFACE).filter(interface=Lower(Value(interface)))

    def in_pools(self, addresses: list[str]) -> Self:
        """Tokens whose pool is one of these addresses or ids, in their stored form."""
        return self.on_chain().filter(pool_address__in=addresses)

    def at_address(self, address: str, *, chain_id: int | None) -> Self:
        """Tokens at an address in its stored form, on one chain or on all."""
        tokens = self.on_chain().filter(contract_address=address)
        return tokens if chain_id is None else tokens.filter(chain_id=chain_id)

    def in_chain_order(self, chain_ids: list[int]) -> Self:
        """In the order of these chains; other chains last."""
        places = [When(chain_id=chain_id, then=place) for place, chain_id in enumerate(chain_ids)]
        return self.order_by(Case(*places, default=len(places), output_field=IntegerField()), "id")

    def blocked_at(self, address: str, *, chain_id: int | None) -> Self:
        """Blocked tokens at an address in its stored form, on one chain or on all.

        Also those that a reorg has dropped: what operators said of a token holds until they say otherwise.
        """
        tokens = self.filter(contract_address=address, blocked=True)
        return tokens if chain_id is None else tokens.filter(chain_id=chain_id)

    def deployed_by(self, wallet: str) -> Self:
        """Tokens that a wallet, in its stored form, sent or asked for."""
        return self.filter(Q(msg_sender=wallet) | Q(requestor_address=wallet))

    def deployed_with(self, row_id: int, *, fid: int | None, wallet: str | None) -> Self:
        """Tokens that the same requestor asked for; where none is known, that the same wallet deployed."""
        if fid is not None:
            return self.on_chain().filter(requestor_fid=fid)
        if wallet:
            return self.on_chain().deployed_by(wallet)
        return self.filter(pk=row_id)

    def launched_in(self, *, chain_id: int, tx_hash: str) -> Self:
        """Tokens of one transaction."""
        return self.filter(chain_id=chain_id, tx_hash=tx_hash)

    def launched_on(self, chain_id: int) -> Self:
        """Tokens whose launch was once read from this chain, also where a reorg has dropped it since."""
        return self.filter(chain_id=chain_id, launch__isnull=False)


class SearchEntryQuerySet(QuerySet["SearchEntry"]):
    """Search entries, by what the filters of token lists ask for."""

    def listed(self) -> Self:
        """Those of tokens that public lists show."""
        return self.filter(is_listed=True)

    def in_pool_or_paired_with(self, address: str) -> Self:
        """Those of a pool, or whose paired token is at an address, in its stored form."""
        return self.filter(Q(pool_address=address) | Q(paired_token=address))

    def paired(self, symbol: str) -> Self:
        """Those whose paired token has this symbol, in any case."""
        return self.filter(pair=Lower(Value(symbol)))

    def launched_by_interface(self, interface: str) -> Self:
        """Those whose launch came by this interface, in any case."""
        return self.filter(interface=Lower(Value(interface)))


class MarketQuerySet(QuerySet["Market"]):
    """Markets, by what is to be done about them."""

    def due(self, now: datetime, *, priority: int) -> Self:
        """Markets of one priority that are to be refreshed, in the order in which they come."""
        return self.filter(priority=priority, due_at__lte=now).order_by("due_at", "-pk")

    def make_first(self, now: datetime) -> int:
        """Have the provider asked for these before all others, as if somebody looked at them; how many there are."""
        return self.update(due_at=now, viewed_at=now, priority=Priority.VIEWED)

    def waiting(self, now: datetime) -> dict[int, tuple[int, datetime]]:
        """Priority -> how many are to be refreshed, and since when the first is. Priorities without any are absent."""
        due = self.filter(priority__in=Priority, due_at__lte=now).values("priority")
        counted = due.annotate(count=Count("pk"), since=Min("due_at")).values_list("priority", "count", "since")
        return {priority: (count, since) for priority, count, since in counted}


class IndexRequestQuerySet(QuerySet["IndexRequest"]):
    """Index requests, by what is to be done about them."""

    def move(self, **changes: Any) -> int:
        """Update, with the time of it; the number of rows tells whether the guarding filters still held."""
        return self.update(updated_at=timezone.now(), **changes)

    def for_transactions(self, transactions: Iterable[tuple[int, str]]) -> Self:
        """Requests of these transactions, each as (chain id, hash)."""
        wanted = set(transactions)
        # By the chains, too: the index begins with them.
        chain_ids, hashes = ({part[place] for part in wanted} for place in (0, 1))
        found = self.filter(chain_id__in=chain_ids, tx_hash__in=hashes)
        return self.filter(pk__in=[request.pk for request in found if (request.chain_id, request.tx_hash) in wanted])

    def due(self, now: datetime) -> Self:
        """Requests that nobody has worked on for longer than they should wait, oldest first."""
        return self.filter(status="pending", due_at__lte=now).order_by("due_at")

    def failed_of_pages(self, before: datetime) -> Self:
        """Those that nobody but visitors of pages asked for, and that failed before this time."""
        return self.filter(status="failed", from_page=True, updated_at__lt=before)

    def unconfirmed(self, *, chain_id: int, up_to_block: int) -> Self:
        """Indexed requests of a chain whose block is at most this one, lowest first."""
        unconfirmed = self.filter(status="indexed", chain_id=chain_id, block_number__lte=up_to_block)
        return unconfirmed.order_by("block_number")
