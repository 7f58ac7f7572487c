"""Tokens for page tests, with market, candles, trades, launch terms, claims and a creator."""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.utils import timezone

from config.postgresql.partitions import week_of
from tests.rows.factories import (
    ChainHeadFactory,
    CoverageFactory,
    DeploymentFactory,
    FeeClaimFactory,
    SocialProfileFactory,
    TokenEventFactory,
    TokenFactory,
)
from tests.tokens.market.stored_trades import candle_row, make_half_day, make_traded_token, make_weeks
from tokens.chains.launching.merkle import build_tree
from tokens.deploying.airdrop_proofs import store_tree
from tokens.models import (
    BondingCurve,
    DeploymentStatus,
    LaunchFacts,
    Market,
    MinuteCandle,
    RollingClock,
    RollingSum,
    Token,
)

ADMIN = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
RECIPIENT = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"
HOOK = "0xDd5EeaFf7BD481AD55Db083062b13a3cdf0A68CC"
LOCKER = "0x63D2DfEA64b3433F4071A98665bcD7Ca14d93496"
WETH = "0x4200000000000000000000000000000000000006"
FID = 12_345
WEI = 10**18
# Account and wei for each airdrop entry.
ENTRIES = [(RECIPIENT, 400 * WEI), (ADMIN, 600 * WEI)]


def lockup(started_at: str, *, lock: int, vest: int) -> dict[str, Any]:
    return {"startedAt": started_at, "lockDuration": lock, "vestDuration": vest}


def make_extensions() -> dict[str, Any]:
    """Return all kinds of extensions, as launches are stored."""
    started = "2026-01-05T00:00:00.000Z"
    shares = [
        {"admin": ADMIN, "recipient": RECIPIENT, "bps": 8000, "token": "Both"},
        {"admin": ADMIN, "recipient": ADMIN, "bps": 2000, "token": "Paired"},
    ]
    rates = {"clankerFee": 150, "pairedFee": 100, "baseFee": None, "maxFee": None}
    return {
        "fees": {"type": "static", "hook_address": HOOK, "recipients": shares, **rates},
        "vault": {"amount": str(30 * 10**27), "lockup": lockup(started, lock=86_400 * 30, vest=86_400 * 60)},
        "airdrop": {
            "amount": str(1000 * WEI),
            "merkleRoot": "0x" + "ab" * 32,
            "admin": ADMIN,
            "lockup": lockup(started, lock=86_400, vest=0),
        },
        "devBuy": {"amount": str(5 * 10**27), "amountEth": str(WEI // 2), "recipient": RECIPIENT},
        "sniperTax": {"startingFee": 666_777, "endingFee": 41_673, "secondsToDecay": 15},
        "positions": None,
    }


def make_scene(*, now: datetime | None = None, **columns: Any) -> Token:
    """Create a traded token with all that its page can show."""
    now = now or timezone.now()
    make_weeks(3, first=week_of(now - timedelta(days=7)))
    values: dict[str, Any] = {
        "name": "Higher",
        "symbol": "HIGHER",
        "description": "We aim higher.\nNo promises.",
        "deployed_at": now - timedelta(hours=12),
        "locker_address": LOCKER,
        "champagne": True,
        "confirmed": True,
        "requestor_fid": FID,
        "presale_id": "7",
        "starting_market_cap": 9.87083,
        "block_number": 1_200_000,
        "extensions": make_extensions(),
        "pool_config": {"pairedToken": WETH, "tickIfToken0IsNewToken": -230_400, "tickSpacing": 200, "hook": HOOK},
        "social_context": {"interface": "Bankr", "platform": "farcaster", "messageId": None, "id": None},
        "metadata": {
            "auditUrls": [],
            "description": "We aim higher.",
            "socialMediaUrls": [{"platform": "x", "url": "https://x.example/higher"}],
        },
    }
    token: Token = TokenFactory.create(**values | columns)
    LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": 18, "tick": -230_400}})
    make_market(token, now)
    make_claims(token)
    SocialProfileFactory.create(fid=FID, username="river", display_name="River")
    ChainHeadFactory.create()
    CoverageFactory.create(first_block=1_000_000, verified_to=2_999_100)
    return token


def make_minutes(count: int) -> Token:
    """Create a token with candles for the last minutes, with prices in a narrow range."""
    now = timezone.now()
    make_weeks(3, first=week_of(now) - timedelta(weeks=1))
    # The first bar opens at the starting price, which is in the same range.
    token = make_traded_token(tick=-113_028, supply=Decimal(10**27), deployed_at=now - timedelta(hours=1))
    Market.objects.filter(token=token).update(price_usd=1.0, market_cap=1e9)
    minute = now.replace(second=0, microsecond=0)
    MinuteCandle.objects.bulk_create(
        candle_row(token, minute - timedelta(minutes=back), *[0.00001234567 + back * 1e-10] * 4)
        for back in range(count)
    )
    return token


def make_market(token: Token, now: datetime) -> None:
    """Create a token's market, its sums for a day, and 48 candles and trades in the last 12 hours."""
    Market.objects.filter(token=token).update(
        price_usd=0.000192,
        price_quote=Decimal("9.6e-8"),
        market_cap=19_200_000,
        volume_24h=1_234_567,
        liquidity_usd=345_000,
        price_change_24h=12.34,
        updated_at=now,
        last_trade_at=now,
    )
    RollingSum.objects.create(
        token=token, seconds=86_400, volume_quote=1, volume_usd=1, buys=1412, sells=987, traders=321
    )
    RollingClock.objects.update_or_create(chain_id=token.chain_id, defaults={"rolled_to": now})
    make_half_day(token, now)


def make_claims(token: Token) -> None:
    """Create fee payments, and claims from the vault and from the airdrop."""
    paid = TokenEventFactory.create(token=token)
    FeeClaimFactory.create(event=paid, recipient=RECIPIENT, currency=token.contract_address, amount=3 * 10**21)
    vault = {"token": token.contract_address, "amount": str(10**27), "remainingAmount": "0"}
    TokenEventFactory.create(token=token, kind="vault_claimed", arguments=vault)
    for total in (100, 250):
        claimed = {"user": RECIPIENT, "totalUserAmountClaimed": str(total * WEI), "userAmountStillLocked": "0"}
        TokenEventFactory.create(token=token, kind="airdrop_claimed", arguments=claimed)


def make_airdrop(token: Token) -> None:
    """Store the token's airdrop entries, as a deployment by this service does."""
    launched = DeploymentFactory.create(expected_address=token.contract_address, status=DeploymentStatus.MINED)
    store_tree(launched, tree=build_tree(ENTRIES), entries=ENTRIES)


def make_curve(token: Token, progress: str | None) -> Token:
    """Give a Solana token a curve that ends with 85 SOL, and this progress in percent."""
    LaunchFacts.objects.create(token=token, facts={"pool": {"pair_decimals": "9"}, "curve_config": "config"})
    terms = {"start_sqrt_price": 1, "migration_sqrt_price": 2, "sqrt_prices": [2], "liquidities": [1]}
    terms |= {"migration_threshold": 85 * 10**9}
    BondingCurve.objects.get_or_create(chain_id=token.chain_id, config="config", defaults=terms)
    Market.objects.filter(token=token).update(curve_progress=progress and Decimal(progress))
    return token
