"""Launch report as the API returns it, without balances. It has only JSON values, so that it can be cached.

Amounts are decimal digits in the token's smallest unit, and shares are percent of the supply.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from config.parsing.timestamps import format_timestamp
from tokens.installation.installed_launchpads import is_declared
from tokens.integrity import responses
from tokens.integrity.bundle_detection import Bundle, find_bundles
from tokens.integrity.dev_accounts import DevAccount, StoredClaims, find_dev_accounts, read_claims_of
from tokens.integrity.first_trades import (
    FirstTrades,
    LaunchPlace,
    LaunchTrade,
    read_first_trades,
    read_launch_place,
)
from tokens.integrity.holdings import Holding, largest_holders, sum_holdings, sum_unbought_sales
from tokens.integrity.unknown_facts import describe_unknown, is_launch_covered, is_launch_expired
from tokens.models import Token

# The most entries in each list; counts and sums beside the lists cover all entries.
PURCHASES_SHOWN, BUNDLES_SHOWN, BUNDLED_SHOWN, TRADES_SHOWN = 25, 10, 10, 5


@dataclass(frozen=True, slots=True)
class _Launch:
    """Input for a report."""

    token: Token
    seconds: int
    first_trades: FirstTrades
    launch_place: LaunchPlace
    accounts: Sequence[DevAccount]
    claims: StoredClaims
    # Whether claims from the launchpad's fees, airdrops and vaults count.
    has_claims: bool

    @property
    def opening_trades(self) -> list[LaunchTrade]:
        """Return the trades within `seconds` after the launch."""
        end = self.token.deployed_at + timedelta(seconds=self.seconds)
        return [trade for trade in self.first_trades.trades if trade.block_time <= end]

    def share(self, amount: int) -> responses.LaunchShare:
        """Return an amount with its share of the supply."""
        supply = int(self.token.supply or 0)
        # Integer division rounds once, to the nearest float.
        return {"amount": str(amount), "percent": amount * 100 / supply if supply else None}


def build_report(token: Token, *, seconds: int) -> responses.Integrity:
    """Return facts about the launch's block, the `seconds` after it, and all trades that are read.

    At most four queries; the token's `launch` must be loaded.
    """
    accounts = find_dev_accounts(token)
    claims = read_claims_of(token, {account.address for account in accounts})
    first_trades = read_first_trades(token)
    launch_place, has_claims = read_launch_place(token, first_trades), not is_declared(token.generation)
    launch = _Launch(token, seconds, first_trades, launch_place, accounts, claims, has_claims)
    opening = launch.opening_trades
    at_launch, now = sum_holdings(opening), sum_holdings(launch.first_trades.trades, claims.received)
    purchases = [trade for trade in opening if trade.is_buy]
    unbought = sum_unbought_sales(now.values())
    return {
        "chainId": token.chain_id,
        "address": token.contract_address,
        "supply": None if token.supply is None else str(int(token.supply)),
        "launch": {
            "txHash": token.tx_hash,
            "block": token.block_number,
            "logIndex": token.log_index,
            "at": format_timestamp(token.deployed_at),
        },
        "seconds": seconds,
        "trades": _counted(launch.first_trades),
        "dev": _dev(launch, at_launch, now),
        "firstBlock": _purchases(launch, [trade for trade in purchases if trade.block == token.block_number]),
        "firstSeconds": _purchases(launch, purchases),
        "bundles": _bundles(launch, opening),
        "holders": {"atLaunch": _holders(launch, at_launch), "now": _holders(launch, now)},
        "soldWithoutPurchase": {"accounts": unbought.accounts, **launch.share(unbought.amount)},
        "unknown": describe_unknown(_unknown(launch)),
        "balancesBlock": None,
    }


def _counted(first_trades: FirstTrades) -> responses.IntegrityTrades:
    newest = first_trades.trades[-1] if first_trades.trades else None
    return {
        "counted": len(first_trades.trades),
        "isComplete": first_trades.is_complete,
        "lastBlock": newest and newest.block,
        "lastAt": newest and format_timestamp(newest.block_time),
    }


def _trade(launch: _Launch, trade: LaunchTrade) -> responses.LaunchTradeJson:
    return {
        "account": trade.account,
        "isDev": any(account.address == trade.account for account in launch.accounts),
        "side": "buy" if trade.is_buy else "sell",
        **launch.share(trade.amount),
        "txHash": trade.tx_hash,
        "block": trade.block,
        "logIndex": trade.log_index,
        "at": format_timestamp(trade.block_time),
    }


def _holding(launch: _Launch, holding: Holding) -> responses.HoldingJson:
    return {
        "bought": str(holding.bought),
        "sold": str(holding.sold),
        "received": str(holding.received) if launch.has_claims else None,
        **launch.share(holding.net),
        "trades": len(holding.trades),
        "transactions": [_trade(launch, trade) for trade in holding.trades[:TRADES_SHOWN]],
    }


def _holders(launch: _Launch, holdings: Mapping[str, Holding]) -> list[responses.LaunchHolder]:
    developers = {account.address for account in launch.accounts}
    return [
        {"account": account, "isDev": account in developers, **_holding(launch, holding), "balance": None}
        for account, holding in largest_holders(holdings)
    ]


def _dev(launch: _Launch, at_launch: Mapping[str, Holding], now: Mapping[str, Holding]) -> responses.IntegrityDev:
    def total(holdings: Mapping[str, Holding]) -> responses.LaunchShare:
        return launch.share(
            sum(holdings[account.address].net for account in launch.accounts if account.address in holdings)
        )

    return {
        "accounts": [
            {
                "account": account.address,
                "roles": list(account.roles),
                "atLaunch": _holding(launch, at_launch.get(account.address) or Holding()),
                "now": _holding(launch, now.get(account.address) or Holding()),
                "balance": None,
            }
            for account in launch.accounts
        ],
        "atLaunch": total(at_launch),
        "now": total(now),
        "vaultClaimed": _vault_claimed(launch) if launch.has_claims else None,
    }


def _vault_claimed(launch: _Launch) -> responses.VaultClaimed:
    vault = launch.claims.vault
    return {
        **launch.share(sum(claim.amount for claim in vault)),
        "transactions": [
            {"txHash": claim.tx_hash, "block": claim.block, "logIndex": claim.log_index}
            for claim in vault[:TRADES_SHOWN]
        ],
    }


def _purchases(
    launch: _Launch, purchases: Sequence[LaunchTrade], *, shown: int = PURCHASES_SHOWN
) -> responses.Purchases:
    """Return purchases with their sum, and the number of different accounts without unknown ones."""
    return {
        "buyers": len({purchase.account for purchase in purchases} - {None}),
        "count": len(purchases),
        **launch.share(sum(purchase.amount for purchase in purchases)),
        "purchases": [_trade(launch, purchase) for purchase in purchases[:shown]],
    }


def _bundles(launch: _Launch, opening: Iterable[LaunchTrade]) -> responses.IntegrityBundles:
    bundles = find_bundles(opening, launch.launch_place)
    purchases = [purchase for bundle in bundles for purchase in bundle.purchases]
    return {
        "count": len(bundles),
        "purchases": len(purchases),
        **launch.share(sum(purchase.amount for purchase in purchases)),
        "list": [_bundle(launch, bundle) for bundle in bundles[:BUNDLES_SHOWN]],
    }


def _bundle(launch: _Launch, bundle: Bundle) -> responses.BundleJson:
    return {
        "kinds": list(bundle.kinds),
        "block": bundle.purchases[0].block,
        **_purchases(launch, bundle.purchases, shown=BUNDLED_SHOWN),
    }


def _unknown(launch: _Launch) -> list[str]:
    indexes = {trade.tx_hash: trade.tx_index for trade in launch.opening_trades}
    indexes[launch.launch_place.tx_hash] = launch.launch_place.tx_index
    conditions = {
        "transactionPlaces": None in indexes.values(),
        "launchTrades": not is_launch_covered(launch.token),
        "expiredTrades": is_launch_expired(launch.token),
        "laterTrades": not launch.first_trades.is_complete,
        "traders": any(trade.account is None for trade in launch.first_trades.trades),
        "claims": not launch.claims.is_complete,
        "launchpadClaims": not launch.has_claims,
        "vaultRecipients": bool(launch.claims.vault),
        "supply": not launch.token.supply,
    }
    return ["transfers", "funders", *(fact for fact, applies in conditions.items() if applies)]
