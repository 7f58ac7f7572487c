"""Fieldsets and computed fields for a token's admin page.

Django renders fields several times per page, so rows that they need beside the token are read once, as its `facts`.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db.models import JSONField
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join

from config.operators.admin_pages import change_url
from config.operators.local_times import local_time
from tokens.admin.token_events import format_arguments
from tokens.admin.trades.token_trades import TokenTrading, newest_trades, price_charts, read_trading
from tokens.installation.installed_launchpads import launchpad_of
from tokens.installation.installed_registry import generation_label, registry
from tokens.models import IndexRequest, LaunchFacts, Market, StoredState, Token, TokenEvent


@dataclass(frozen=True, kw_only=True)
class TokenFacts:
    """Rows related to a token; `block` is the audit log entry for blocking it, while it is blocked."""

    index_request: IndexRequest | None
    market: Market
    block: LogEntry | None
    # The newest EVENTS_SHOWN.
    events: list[TokenEvent]
    launch: LaunchFacts | None
    state: StoredState | None
    trading: TokenTrading


EVENTS_SHOWN = 20

# A Token with its `facts`.
ShownToken = Any


def read_facts(token: Token) -> TokenFacts:
    """Read a token's facts: at most eight queries, and one more if it is blocked."""
    market = Market.objects.select_related("token__launch", "token__state").get(token=token)
    launched = getattr(market.token, "launch", None)
    return TokenFacts(
        index_request=IndexRequest.objects.filter(chain_id=token.chain_id, tx_hash=token.tx_hash).first(),
        market=market,
        block=_find_block(token) if token.blocked else None,
        events=list(token.events.order_by("-block_number", "-log_index")[:EVENTS_SHOWN]),
        launch=launched,
        state=getattr(market.token, "state", None),
        trading=read_trading(token, launch=launched, market=market, now=timezone.now()),
    )


def _find_block(token: Token) -> LogEntry | None:
    blocks = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(Token),
        object_id=str(token.pk),
        change_message__startswith="blocked = True",
    )
    return blocks.select_related("user").order_by("-id").first()


@admin.display(description="blocked")
def block_state(token: ShownToken) -> str:
    """Return whether the token is blocked, with the audit log's time, operator and reason."""
    if not token.blocked:
        return "no"
    entry = token.facts.block
    if entry is None:
        return "yes"
    _, _, reason = entry.get_change_message().partition(": ")
    return f"yes, since {local_time(entry.action_time)} by {entry.user}: {reason or 'no reason given'}"


@admin.display(description="public page")
def public_page(token: Token) -> str:
    """Return a link to the public page; no link while the token is in no indexed block."""
    if token.unindexed:
        return "none: the token is in no indexed block"
    page = reverse("token-page", args=[token.chain_id, token.contract_address])
    return format_html('<a class="text-link" href="{}">{}</a>', page, page)


@admin.display(description="chain")
def chain_name(token: Token) -> str:
    chain = registry().chains.get(token.chain_id)
    return f"{chain.name} ({token.chain_id})" if chain else str(token.chain_id)


@admin.display(description="type")
def type_name(token: Token) -> str:
    launchpad = launchpad_of(token.generation)
    if launchpad.launches:
        return f"{launchpad.name} (declared launchpad {launchpad.title})"
    return f"{generation_label(token.generation)} (generation {token.generation} of {launchpad.title})"


@admin.display(description="index request")
def index_request(token: ShownToken) -> str:
    """Return a link to the index request for the token's transaction, with its status."""
    row = token.facts.index_request
    if row is None:
        return "none"
    page = reverse("admin:tokens_indexrequest_change", args=[row.pk])
    link = format_html('<a class="text-link" href="{}">{}</a>', page, row.get_status_display())
    return format_html("{} {}", link, row.last_error)


@admin.display(description="pool")
def pool(token: Token) -> str:
    """Return the pool's address, with a link to all its tokens."""
    if not token.pool_address:
        return "none"
    page = reverse("admin:tokens_token_changelist")
    return format_html(
        '{} (<a class="text-link" href="{}?q={}">its tokens</a>)', token.pool_address, page, token.pool_address
    )


@admin.display(description="market")
def market(token: ShownToken) -> str:
    """Return the last market data, from trades or from the provider."""
    row = token.facts.market
    if row.updated_at is None:
        return "nothing yet"
    price = "unknown" if row.price_usd is None else f"{row.price_usd:.6g} USD"
    cap = "unknown" if row.market_cap is None else f"{row.market_cap:,.0f} USD"
    return f"price {price}, cap {cap}, as of {local_time(row.updated_at, 'seconds')}"


@admin.display(description="newest events")
def events(token: ShownToken) -> str:
    """Return the newest events since the launch, with a link to each and to the list."""
    rows = format_html_join(
        "",
        '<li>{} <a class="text-link" href="{}">{}</a> {}</li>',
        (
            (local_time(event.at), change_url(event), event.get_kind_display(), format_arguments(event))
            for event in token.facts.events
        ),
    )
    if not rows:
        return "none"
    page = reverse("admin:tokens_tokenevent_changelist")
    return format_html(
        '<ul>{}</ul><a class="text-link" href="{}?q={}">All events</a>', rows, page, token.contract_address
    )


@admin.display(description="decoded launch")
def launch(token: ShownToken) -> str:
    """Return the decoded launch, before later changes."""
    return "not stored" if token.facts.launch is None else pretty_json(token.facts.launch.facts)


@admin.display(description="state read")
def state(token: ShownToken) -> str:
    """Return the state that was read from the token's contracts when its launch was indexed by hash, with the block."""
    row = token.facts.state
    return "none" if row is None else pretty_json({"block_number": row.block_number} | row.facts)


@cache
def json_line(column: str) -> Callable[[Token], str]:
    """Return the field function that shows a JSON column indented; each call returns the same function."""

    @admin.display(description=column.replace("_", " "))
    def line(token: Token) -> str:
        return pretty_json(getattr(token, column))

    return line


def pretty_json(value: Any) -> str:
    """Return a value as indented JSON in a scrollable box."""
    return format_html('<pre class="overflow-auto text-xs">{}</pre>', json.dumps(value, indent=2, ensure_ascii=False))


Line = str | Callable[[Token], str]

# The last fieldset has the decoded launch and all columns that no fieldset lists.
FIELDSETS: tuple[tuple[str, tuple[Line, ...]], ...] = (
    ("Tags", ("champagne", "verified", block_state, public_page)),
    ("Token", ("name", "symbol", "supply", "description", "img_url", "launch_warnings")),
    (
        "Launch",
        (
            chain_name,
            "contract_address",
            type_name,
            "factory_address",
            "deployed_at",
            "tx_hash",
            "block_number",
            index_request,
        ),
    ),
    ("People", ("admin", "msg_sender", "requestor_fid", "requestor_address", "cast_hash")),
    ("Pool and market", (pool, "pair", "paired_token", "locker_address", "starting_market_cap", market)),
    ("Price and trades", (price_charts, newest_trades)),
    ("Since the launch", (events,)),
    (
        "As decoded and stored",
        (launch, state, "deploy_config", "pool_config", "extensions", "metadata", "social_context"),
    ),
)
# Columns that computed fields replace.
REPLACED_COLUMNS = {"chain_id", "generation", "pool_address", "blocked"}


def fieldsets() -> list[tuple[str, dict[str, Any]]]:
    """Return FIELDSETS in Django's format, with all remaining columns in the last fieldset."""
    placed_columns = REPLACED_COLUMNS | {line for _, lines in FIELDSETS for line in lines}
    unplaced_columns = [field.name for field in Token._meta.fields if field.name not in placed_columns]
    columns = {field.name: json_line(field.name) for field in Token._meta.fields if isinstance(field, JSONField)}
    *preceding, (title, decoded) = FIELDSETS
    last_lines = [columns.get(line, line) if isinstance(line, str) else line for line in (*decoded, *unplaced_columns)]
    return [*((name, {"fields": lines}) for name, lines in preceding), (title, {"fields": last_lines})]


def read_only_fields(*, editable: tuple[str, ...]) -> list[Line]:
    """Return all the page's fields except the editable ones."""
    return [line for _, options in fieldsets() for line in options["fields"] if line not in editable]
