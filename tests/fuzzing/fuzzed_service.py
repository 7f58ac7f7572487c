"""Service for calls from `tests.fuzzing.described_calls`: every kind of row, nodes, providers and credentials."""

from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.handlers.wsgi import WSGIHandler
from django.utils import timezone

from accounts.administrators import sessions
from accounts.keys import credentials
from accounts.models import DisabledBy, PartnerKey, Person, Scope, WebhookDelivery, WebhookEndpoint
from accounts.subscriptions import endpoints
from accounts.subscriptions.deliveries import publish_and_queue
from accounts.users import wallet_tokens
from config import cursors
from config.edge.cache import cache_public_responses
from config.events.models import Event
from development.devchain.anvil import CHAIN_ID
from development.standins.issuer_server import IssuerStandIn
from leaderboard.models import Interval, Snapshot
from leaderboard.ranking import standing_cursors
from leaderboard.ranking.standing_cursors import StandingPosition
from tests.accounts.users.wallets import message, sign
from tests.fuzzing import wallet_actions
from tests.fuzzing.described_calls import FuzzedService, Known, Level
from tests.leaderboard.ranking.test_leaderboard import make_snapshot
from tests.nodes.devchain_launches import UNKNOWN_HASH
from tests.nodes.launch_builder import ZERO
from tests.nodes.locker_responses import collects, recorded_claim, team_percent
from tests.nodes.log_encoding import call
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import RECORDED_LAUNCHES, Json, mined
from tests.rows.airdrop_entries import tree_dump
from tests.rows.factories import (
    AdministratorFactory,
    ChainHeadFactory,
    DeploymentFactory,
    DeployWalletFactory,
    FeeClaimFactory,
    PersonFactory,
    PretokenFactory,
    SocialProfileFactory,
    SolanaTokenFactory,
    TokenFactory,
)
from tests.rows.indexed_tokens import index_launch
from tests.rows.launch_requests import ADMIN, WALLET, order, pretoken
from tests.rows.token_lists import price
from tests.rows.user_tokens import as_user
from tests.tokens.catalogue.test_estimate_rewards import LEGACY, TEAM
from tests.tokens.market.stored_trades import WEEK, make_candle, make_trade, make_weeks
from tokens.chains.launching.merkle import build_tree
from tokens.deploying import airdrop_proofs, saved_airdrops
from tokens.deploying.sales.posted_allowlists import save_allowlist
from tokens.deploying.saved_airdrops import AirdropRequest
from tokens.following.coverage import followed_makers
from tokens.indexing import index_requests
from tokens.installation.installed_chains import installed_chain
from tokens.models import Coverage, Token

FID, ADMINISTRATOR_FID, UNKNOWN_FID = 7, 5, 404
PASSWORD = "correct horse battery staple"
# An unknown account, and unknown records.
UNKNOWN = "0x00000000000000000000000000000000000000aA"
_MINT = "So11111111111111111111111111111111111111112"
# A partner key and a session cookie that the service has not issued.
_KEY, _COOKIE = "lb_nonsense", "nonsense:nonsense"


def build_service(issuer: IssuerStandIn, node: Node, launches: Sequence[str], *, presale_id: int) -> FuzzedService:
    """Build the service, with the development chain's launches and a presale, and with Base's recorded launches."""
    _return_no_unrecorded_fees(node)
    wallet_actions.revert_simulations(node)
    for tx_hash in launches:
        index_requests.index_transaction(chain_id=CHAIN_ID, tx_hash=tx_hash)
    for label in RECORDED_LAUNCHES:
        token = index_launch(mined(label))
        if label in LEGACY:
            _set_uncollected_fees(node, token, label)
    _vary_records(list(Token.objects.order_by("pk")))
    _add_trades(Token.objects.filter(launch__isnull=False))
    _follow()
    for chain_id in (CHAIN_ID, 8453):
        DeployWalletFactory(chain_id=chain_id, address=WALLET)
    User.objects.create_user("operator", password=PASSWORD, is_staff=True)
    session = sessions.begin_session(AdministratorFactory(issuer=issuer.url, subject=str(ADMINISTRATOR_FID)))
    partner = credentials.issue_key("All", scopes=list(Scope))
    ranking = make_snapshot()
    webhooks = _webhooks(PartnerKey.objects.get(name="All"))
    known = _known(
        list(Token.objects.order_by("pk")),
        launches=launches,
        requests=_orders(PartnerKey.objects.get(name="All")),
        pretokens=_pretokens(PersonFactory(fid=FID)),
        webhooks=webhooks,
        ranking=ranking,
        presale_id=presale_id,
    )
    return FuzzedService(
        application=cache_public_responses(WSGIHandler()),
        headers={
            Level.PARTNER: {"x-api-key": partner},
            Level.READER: {"x-api-key": credentials.issue_key("Reader", scopes=[Scope.READ])},
            Level.INDEXER: {"x-api-key": credentials.issue_key("Indexer", scopes=[Scope.INDEX])},
            Level.USER: as_user(issuer, FID),
            Level.ADMINISTRATOR: as_user(issuer, ADMINISTRATOR_FID),
            Level.BAD_KEY: {"x-api-key": _KEY},
            Level.BAD_TOKEN: {"Authorization": f"Bearer {partner}"},
        },
        cookies={
            Level.SESSION: {sessions.COOKIE: session.cookie},
            Level.BAD_COOKIE: {sessions.COOKIE: _COOKIE},
        },
        known=known,
    )


def _return_no_unrecorded_fees(node: Node) -> None:
    """Have fee lockers return zero for recipients that were not recorded, as real ones do."""
    recorded, selector = node.answers["eth_call"], call("availableFees(address,address)", ZERO, ZERO)[:10]

    def view(requested: Json, block: str) -> str:
        is_recorded = (requested["to"].lower(), requested["data"]) in node.views
        if requested["data"].startswith(selector) and not is_recorded:
            return "0x" + "00" * 32
        return str(recorded(requested, block))

    node.answers["eth_call"] = view


def _set_uncollected_fees(node: Node, token: Token, label: str) -> None:
    """Have the node return a token's uncollected fees, and the team's percentage where the locker returns it."""
    locker, collected = token.locker_address, recorded_claim(token.locker_address).collected
    collects(node, int(token.position_id), owner=locker, amounts=collected)
    accessor = LEGACY[label]
    if accessor:
        team_percent(node, locker, TEAM[label], accessor=accessor)


def _vary_records(tokens: Sequence[Token]) -> None:
    """Add people, prices, and tags, so that each response field is there once and missing once."""
    SocialProfileFactory(fid=FID, verified_addresses=[WALLET], pfp_url="https://a.example/p.png", bio="Hello")
    TokenFactory(name="", symbol="", supply=None, admin="", msg_sender="", pool_address="", pair="", paired_token="")
    SolanaTokenFactory(contract_address=_MINT, pool_address="", blocked=True)
    SolanaTokenFactory()
    for place, token in enumerate(tokens):
        Token.objects.filter(pk=token.pk).update(
            requestor_fid=FID if place % 2 else None, champagne=place % 3 == 0, blocked=place % 7 == 6
        )
        if place % 2 or len(token.pool_address) == 42:
            price(
                token, price_usd=1.5 * place, market_cap=place // 4, volume_24h=3, liquidity_usd=4, tx_count_24h=place
            )
            price(token, price_change_1h=1, price_change_6h=-2.5, price_change_24h=place / 7, quote_price_usd=3000)


def _add_trades(tokens: Iterable[Token]) -> None:
    """Add trades and candles, with a price in USD and without one."""
    make_weeks(1)
    for token in tokens:
        Token.objects.filter(pk=token.pk).update(deployed_at=WEEK)
        for block, quote_usd in enumerate((None, 3000, 3000.5)):
            make_trade(token, block=block, is_conversion=block == 2, quote_usd=quote_usd, tx_index=block)
        for seconds in (60, 3600, 86_400):
            make_candle(token, WEEK, 1, 2, 0.5, 1.5, seconds=seconds)


def _follow() -> None:
    """Store the development chain's coverage: all blocks are followed, final and verified."""
    chain = installed_chain(CHAIN_ID)
    head = chain.read_head()
    ChainHeadFactory(chain_id=CHAIN_ID, head=head, final=head, followed=head)
    Coverage.objects.create(
        chain_id=CHAIN_ID,
        addresses=sorted(chain.info.emitters | followed_makers(chain.info)),
        address_set="0" * 64,
        first_block=0,
        followed_to=head,
        verified_to=head,
    )


def _orders(partner: PartnerKey) -> list[str]:
    """Store deployments in several states, and another partner's one; return their request keys."""
    entries = [(ADMIN, 10), (WALLET, 20)]
    launched = DeploymentFactory(partner_key=partner, expected_address=WALLET, status="mined", tx_hash=UNKNOWN_HASH)
    airdrop_proofs.store_tree(launched, tree=build_tree(entries), entries=entries)
    rows = [
        launched,
        DeploymentFactory(partner_key=partner, request_key="a" * 32),
        DeploymentFactory(partner_key=partner, request_key="b" * 32, status="failed", error="It failed."),
        DeploymentFactory(request_key="c" * 32),
    ]
    saved_airdrops.save_airdrop(AirdropRequest(entries=((ADMIN, 5), (WALLET, 6))), partner=partner)
    save_allowlist({"entries": [{"address": ADMIN, "allowedAmountWei": "7"}]}, partner=partner)
    FeeClaimFactory(recipient=WALLET, currency=WALLET)
    return [row.request_key for row in rows]


def _pretokens(owner: Person) -> list[str]:
    """Store pretokens in several states, and another user's one; return their ids."""
    rows = [
        PretokenFactory(owner=owner, keyword="doge", body=pretoken("doge")),
        PretokenFactory(owner=owner, deleted=True),
        PretokenFactory(owner=owner, overdue=True),
        PretokenFactory(owner=owner, deployed=True),
        PretokenFactory(),
    ]
    return [str(row.pk) for row in rows]


def _webhooks(partner: PartnerKey) -> list[str]:
    """Store endpoints with deliveries, also a disabled one and another partner's; return their ids."""
    rows = [
        WebhookEndpoint.objects.create(partner_key=partner, url="https://a.example/"),
        WebhookEndpoint.objects.create(partner_key=partner, url="https://b.example/", types=["token.indexed"]),
        WebhookEndpoint.objects.create(url="https://c.example/"),
    ]
    publish_and_queue()
    endpoints.disable_endpoint(rows[1], "HTTP status 410", by=DisabledBy.SERVICE, notice=True)
    log = [{"at": "2026-02-07T12:00:00.000Z", "status": 500, "ms": 3, "bytes": 0, "error": "HTTP status 500"}]
    WebhookDelivery.objects.filter(endpoint=rows[0]).update(status="failed", log=log)
    return [str(row.pk) for row in rows]


def _events() -> list[dict[str, Any]]:
    """Return a partner's events about an agent, its activity, and an account."""
    shared = {"at": "2026-02-07T12:00:00Z", "agentId": "one"}
    cast = {"castHash": "0x" + "ab" * 20}
    return [
        {"id": "a1", "type": "agent", "fid": FID} | shared,
        {"id": "i1", "type": "interaction", "kind": "like", "actorFid": ADMINISTRATOR_FID} | shared | cast,
        {"id": "s1", "type": "score", "at": shared["at"], "fid": FID, "score": 0.5},
    ]


def _known(
    tokens: Sequence[Token],
    *,
    launches: Sequence[str],
    requests: Sequence[str],
    pretokens: Sequence[str],
    webhooks: Sequence[str],
    ranking: Snapshot,
    presale_id: int,
) -> Known:
    addresses = [token.contract_address for token in tokens]
    evm = [address for address in addresses if address.startswith("0x")] + [WALLET, UNKNOWN, WALLET.lower()]
    pools = [token.pool_address for token in tokens if token.pool_address]
    people = [ADMIN, WALLET, UNKNOWN, *(token.msg_sender for token in tokens if token.msg_sender)]
    # Only EVM addresses, like the tokens'.
    wallets = [person for person in people if person.startswith("0x")]
    fids = [str(FID), str(UNKNOWN_FID)]
    newest = tokens[-1]
    pages = [
        cursors.encode_cursor(cursors.Cursor(newest.deployed_at, newest.pk), sort_by="deployed-at"),
        cursors.encode_cursor(cursors.Cursor(newest.deployed_at, newest.pk), sort_by="deployed-at", descending=False),
        cursors.encode_cursor(cursors.Cursor(4, newest.pk), sort_by="tx-h24"),
        cursors.encode_cursor(cursors.Cursor(None, newest.pk), sort_by="market-cap"),
        "eyJpZCI6IjIwMjYtMDItMDdUMDM6NTA6NDkifQ==",
    ]
    values = {
        "address": [*evm, _MINT],
        "addresses": [",".join(evm[:3]), _MINT],
        "/api/get-user-by-address address": [WALLET],
        "name": [f"user-{FID}", f"@USER-{FID}"],
        # v4 tokens have another endpoint.
        "/api/get-claim-info address": [
            token.contract_address
            for token in tokens
            if token.pool_address.startswith("0x") and len(token.pool_address) == 42
        ],
        # Other transactions are unknown to every node.
        "/api/get-uncollected-fees/{address} address": [
            token.contract_address for token in tokens if token.chain_id == CHAIN_ID or token.locker_address
        ],
        # Each chain kind has its own address form.
        **{
            f"/api/tokens/{{chainId}}/{{address}}{more} address": evm
            for more in ("", "/trades", "/candles", "/integrity")
        },
        "admin": people,
        "chainId": ["8453", str(CHAIN_ID)],
        "exchange": [str(CHAIN_ID)],
        # Without a node or a contract there is no list.
        "/api/presales chainId": [str(CHAIN_ID)],
        "presaleId": [str(presale_id)],
        "buyerAddress": [ADMIN, WALLET],
        "claimerAddress": people,
        "creator": [*people, *fids],
        "cursor": pages,
        "recipientCursor": pages[:1],
        "/api/creators/{creator} cursor": pages[:1],
        "/api/search-creator cursor": [cursors.encode_cursor(cursors.Cursor(None, FID), sort_by="name")],
        "/api/search-creator q": ["user", str(FID), *people[:3]],
        "/api/tokens/{chainId}/{address}/trades cursor": [
            cursors.encode_cursor(cursors.Cursor(WEEK + timedelta(seconds=2), 2**21), sort_by="at"),
            *pages,
        ],
        "/api/droid/leaderboard cursor": [
            standing_cursors.encode_cursor(StandingPosition(1, ranking.pk), interval=Interval.DAY),
            standing_cursors.encode_cursor(StandingPosition(2), interval=Interval.WEEK),
        ],
        # The other chain's market data is the provider's.
        **{
            f"/api/feeds/{feed} chainId": [str(CHAIN_ID)]
            for feed in (
                *(f"dexscreener/{{chainId}}/{name}" for name in ("latest-block", "asset", "pair", "events")),
                *(f"dextools/{{chainId}}/{name}" for name in ("latest-block", "block", "asset", "exchange", "pair")),
                *(f"dextools/{{chainId}}/{name}" for name in ("asset/holders", "events")),
                "daily/{chainId}",
            )
        },
        **{f"/api/feeds/{feed}/{{chainId}}/asset id": evm for feed in ("dexscreener", "dextools")},
        **{f"/api/feeds/{feed}/{{chainId}}/pair id": pools for feed in ("dexscreener", "dextools")},
        "/api/feeds/dextools/{chainId}/asset/holders id": evm,
        "/api/feeds/dextools/{chainId}/exchange id": [token.factory_address for token in tokens],
        "/api/feeds/daily/{chainId} day": ["2026-01-05"],
        "/api/feeds/udf/search exchange": ["8453", str(CHAIN_ID)],
        "fromBlock": ["0", "1"],
        "toBlock": ["1", "2"],
        "number": ["0", "1"],
        "symbol": [f"{CHAIN_ID}:{address}{suffix}" for address in evm for suffix in ("", ".QUOTE")],
        "feeRecipient": wallets,
        "fid": fids,
        "fids": [*fids, ",".join(fids)],
        "id": pretokens,
        **{
            f"/api/webhooks/{{id}}{action} id": webhooks
            for action in ("", "/test", "/rotate", "/deliveries", "/replay")
        },
        "/api/events after": [str(Event.objects.earliest("pk").pk)],
        "msgSender": people,
        "pair": ["WETH", "all"],
        "pairAddress": [*pools, newest.paired_token],
        "poolAddress": pools,
        "q": ["d", "dog", *evm[:3], _MINT, newest.tx_hash],
        "recipient": wallets,
        "requestKey": requests,
        "socialInterface": ["Bankr"],
        "startDate": ["0", str(int(timezone.now().timestamp()))],
        "from": [str(int(WEEK.timestamp()))],
        "to": [str(int(WEEK.timestamp()) + 3600)],
        "tokenAddress": evm,
    }
    orders: list[Any] = [
        order(token={"requestKey": "d" * 32}),
        order(token={"requestKey": "e" * 32}, dryRun=True),
        order(token={"requestKey": requests[1]}),
    ]
    nonce = wallet_tokens.issue_nonce().nonce
    sign_in = message(domain=settings.SITE_URL.partition("://")[2], uri=settings.SITE_URL, nonce=nonce)
    bodies = {
        "/api/tokens/fetch-by-pool-addresses": [{"poolAddresses": pools[:3]}],
        "/api/tokens/index": [{"txHash": tx_hash, "chainId": CHAIN_ID} for tx_hash in (*launches, UNKNOWN_HASH)],
        "/api/tokens/index-by-address": [
            {"address": address, "chainId": CHAIN_ID}
            for address in (*(token.contract_address for token in tokens if token.chain_id == CHAIN_ID), UNKNOWN)
        ],
        "/api/airdrops": [
            {"entries": [{"account": ADMIN, "amount": "10"}, {"account": WALLET, "amount": "20"}]},
            {"tree": tree_dump([(ADMIN, 10)]), "merkleRoot": build_tree([(ADMIN, 10)]).root, "tokenAddress": WALLET},
        ],
        "/api/presales/allowlists": [
            {"entries": [{"address": address, "allowedAmountWei": "5"} for address in (ADMIN, WALLET)]},
        ],
        "/api/tokens/deploy": orders,
        "/api/tokens/deploy/v4": orders,
        "/api/pretoken/v4": [pretoken("wow"), pretoken("doge")],
        "/api/tokens/save-deployed-token/from-ui": [
            {"address": evm[0], "tx_hash": tx_hash, "chain_id": CHAIN_ID} for tx_hash in (*launches, UNKNOWN_HASH)
        ],
        "/api/droid/events": [{"events": _events()}, {"events": _events()[:1]}],
        "/api/webhooks": [{"url": "https://d.example/hook", "types": ["token.indexed"], "chainIds": [8453]}],
        "/api/webhooks/{id}": [{"enabled": False}, {"enabled": True}, {"description": "mine"}],
        "/api/webhooks/{id}/replay": [{"afterEventId": 0}, {"eventId": 1}],
        "/api/sign-in": [{"message": sign_in, "signature": f"0x{sign(sign_in).hex()}"}],
        "/api/admin/verify": [{"username": "operator", "password": PASSWORD}],
        **wallet_actions.known_bodies(tokens, presale_id=presale_id),
    }
    return Known(values=values, bodies=bodies)
