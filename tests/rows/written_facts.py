"""Facts that are written without a node, and all rows that writing them creates."""

from collections.abc import Iterable
from random import Random
from typing import Any

from django.db import transaction

from development.sample_data.evm_launches import BEGIN, SPAN_SECONDS, draw_launch, popular_names
from tests.nodes.recordings import EVENT_TRANSACTIONS, RECORDED_LAUNCHES, base, mined
from tokens.chains.registry.chains import load_registry
from tokens.chains.types import Launch, TransactionFacts
from tokens.indexing import chain_lock
from tokens.indexing.writing import WriteCounts, write_transactions
from tokens.models import FeeClaim, LaunchFacts, Market, SearchEntry, Token, TokenEvent

# Fields that depend on when a row was written.
_TIMES = ("created_at", "last_indexed", "due_at", "updated_at")


def recorded_facts() -> list[TransactionFacts]:
    """Return all recorded transactions that hold a launch or an event, in the chain's order."""
    labels = dict.fromkeys([*RECORDED_LAUNCHES, *EVENT_TRANSACTIONS])
    return sorted((mined(label).read() for label in labels), key=lambda facts: facts.block_number)


def drawn_launches(count: int) -> list[Launch]:
    """Draw launches on Base, deterministically."""
    random, popular, registry = Random("launches"), popular_names(5), load_registry()
    time = BEGIN + SPAN_SECONDS - 10_000
    drawn = (draw_launch(random, registry=registry, time=time + 3 * n, popular=popular) for n in range(2 * count))
    return [launch for launch in drawn if launch.chain_id == base().chain_id][:count]


def launch_facts_of(launches: Iterable[Launch]) -> list[TransactionFacts]:
    """Return each launch in its own transaction."""
    return [
        TransactionFacts(
            tx_hash=launch.tx_hash,
            block_number=launch.block_number,
            block_hash=launch.block_hash,
            block_time=launch.block_time,
            launches=(launch,),
            event_logs=(),
        )
        for launch in launches
    ]


def write_all(transactions: Iterable[TransactionFacts]) -> WriteCounts:
    """Write Base transactions as a follower does, at once."""
    with transaction.atomic():
        chain_lock.lock_exclusive(base().chain_id)
        return write_transactions(list(transactions), chain=base())


def all_rows(*, ids: bool = False) -> dict[str, list[dict[str, Any]]]:
    """Return every row that writing creates, in a fixed order, but for write times; ids are optional."""
    tokens = dict(Token.objects.values_list("pk", "contract_address"))
    events = {pk: (tx_hash, log) for pk, tx_hash, log in TokenEvent.objects.values_list("pk", "tx_hash", "log_index")}

    def plain(row: dict[str, Any]) -> dict[str, Any]:
        if ids:
            return {name: value for name, value in row.items() if name not in _TIMES}
        known = {"token_id": tokens, "event_id": events}
        named = {name: known[name].get(value) if name in known else value for name, value in row.items()}
        return {name: value for name, value in named.items() if name not in ("id", *_TIMES)}

    models = (Token, LaunchFacts, TokenEvent, FeeClaim, SearchEntry, Market)
    return {
        model.__name__: sorted(map(plain, model._default_manager.values()), key=lambda row: str(sorted(row.items())))
        for model in models
    }


def forget_all() -> None:
    """Delete every row that writing creates."""
    for model in (FeeClaim, TokenEvent, Token):
        model._default_manager.all().delete()
