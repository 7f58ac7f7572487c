"""Response bodies of event feeds, as DEX Screener and DEXTools specify them: amounts are whole units in decimals.

Sources: DEX Screener Adapter Specs v1.1, and dextools-io/integration-sdk, http-adapter-specification.yml 0.0.1.
"""

from collections.abc import Iterable

from tokens.feeds import responses
from tokens.feeds.feed_pairs import FeedAsset, FeedPair
from tokens.feeds.pool_events import PoolEvent
from tokens.feeds.token_holders import HolderPage
from tokens.installation.installed_launchpads import launchpad_of

_PPM_PER_BPS = 100


def decimal_text(amount: int, decimals: int) -> str:
    """Return an amount in smallest units as whole units, with a point and no exponent; DEXTools requires the point."""
    digits = str(amount).rjust(decimals + 1, "0")
    whole, fraction = (digits[:-decimals], digits[-decimals:]) if decimals else (digits, "")
    return f"{whole}.{fraction.rstrip('0') or '0'}"


def describe_block(number: int, seconds: int) -> responses.FeedBlock:
    """Return a block, which is equal in both formats."""
    return {"blockNumber": number, "blockTimestamp": seconds}


def describe_events(events: Iterable[PoolEvent]) -> list[responses.FeedEvent]:
    """Return events in DEXTools' format."""
    return [_describe_event(event, with_price=False) for event in events]


def describe_priced_events(events: Iterable[PoolEvent]) -> list[responses.ScreenerEvent]:
    """Return events in DEX Screener's format, which has the price after a swap."""
    return [_describe_event(event, with_price=True) for event in events]


def describe_asset(asset: FeedAsset) -> responses.FeedAssetJson:
    """Return an asset, equal in both formats. Launched tokens can't be minted: supply without a lock circulates."""
    described: responses.FeedAssetJson = {"id": asset.address, "name": asset.name, "symbol": asset.symbol}
    if asset.supply is not None:
        described["totalSupply"] = decimal_text(asset.supply, asset.decimals)
        if not asset.has_locked_supply:
            described["circulatingSupply"] = described["totalSupply"]
    return described


def describe_holders(asset: FeedAsset, page: HolderPage) -> responses.ToolsHoldersAnswer:
    """Return a page of holders in DEXTools' format: quantities are whole tokens, and a fraction is dropped."""
    unit = 10**asset.decimals
    holders: list[responses.FeedHolder] = [
        {"address": address, "quantity": amount // unit} for address, amount in page.holders
    ]
    return {"asset": {"id": asset.address, "totalHoldersCount": page.total, "holders": holders}}


def describe_screener_pair(pair: FeedPair, *, dex_key: str) -> responses.ScreenerPair:
    """Return a pair in DEX Screener's format; without a fee if the pool's directions differ or its fee changes."""
    details: responses.PairDetails = {"creator": pair.creator} if pair.creator else {}
    if pair.fee is not None and pair.fee % _PPM_PER_BPS == 0:
        details["feeBps"] = pair.fee // _PPM_PER_BPS
    launchpad = launchpad_of(pair.generation)
    metadata: responses.PairMetadata = {"launchpad": launchpad.name, "launchpadTitle": launchpad.title}
    return {**_describe_pair(pair), "dexKey": dex_key, **details, "metadata": metadata}


def describe_tools_pair(pair: FeedPair) -> responses.ToolsPair:
    """Return a pair in DEXTools' format, with the factory that launched its token."""
    return {**_describe_pair(pair), "factoryAddress": pair.factory}


def _describe_pair(pair: FeedPair) -> responses.FeedPairJson:
    return {
        "id": pair.pool,
        "asset0Id": pair.token,
        "asset1Id": pair.quote,
        "createdAtBlockNumber": pair.block_number,
        "createdAtBlockTimestamp": pair.created_at,
        "createdAtTxnId": pair.tx_hash,
    }


def _describe_event(event: PoolEvent, *, with_price: bool) -> responses.ScreenerEvent:
    pair = event.pair
    token = decimal_text(event.amount_token, pair.decimals)
    quote = decimal_text(event.amount_quote, pair.quote_decimals)
    described: responses.ScreenerEvent = {
        "block": describe_block(event.block, event.timestamp),
        "eventType": event.kind,
        "txnId": event.tx_hash,
        "txnIndex": event.tx_index,
        "eventIndex": event.log_index,
        "maker": event.maker,
        "pairId": pair.pool,
    }
    if event.kind != "swap":
        described["amount0"], described["amount1"] = token, quote
    elif event.is_buy:
        described["asset0Out"], described["asset1In"] = token, quote
    else:
        described["asset0In"], described["asset1Out"] = token, quote
    if with_price and event.kind == "swap" and event.price is not None:
        described["priceNative"] = format(event.price, "f")
    if event.reserves is not None:
        in_token, in_quote = event.reserves
        described["reserves"] = {
            "asset0": decimal_text(in_token, pair.decimals),
            "asset1": decimal_text(in_quote, pair.quote_decimals),
        }
    return described
