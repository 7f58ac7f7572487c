"""Rules between a launch request's parts, and rules that depend on its chain.

They take parsed values by their attributes in LaunchConfig; invalid parts are absent.
"""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from django.conf import settings

from config.parsing.json_rules import Problem, described
from tokens.chains.addresses import HEX_ADDRESS
from tokens.chains.launching.launch_calls import on_chain_json
from tokens.chains.launching.launch_config import MAX_EXTENSION_BPS
from tokens.chains.launching.launch_ticks import TickOutOfRangeError, place_liquidity
from tokens.chains.registry.chains import ChainInfo
from tokens.deploying.rules import scalars, token_texts
from tokens.installation.installed_registry import registry

# Decimals that every wrapped native coin has.
_NATIVE_DECIMALS = 18
WRAPPED_NATIVE = "WETH"


@described({"type": "string", "pattern": f"^({WRAPPED_NATIVE}|{HEX_ADDRESS})$", "description": "An address, or WETH."})
def paired_token(value: object) -> str:
    """Parse an address, or WETH, which stays a word until the chain is known."""
    if value == WRAPPED_NATIVE:
        return WRAPPED_NATIVE
    try:
        return str(scalars.address(value))
    except ValueError as error:
        raise ValueError(f"{error}, or {WRAPPED_NATIVE}") from error


def pair_address(paired: str, *, info: ChainInfo) -> str:
    """Return the address for a parsed `paired_token`; "" without a known wrapped native coin."""
    return info.wrapped_native or "" if paired == WRAPPED_NATIVE else paired


def known_decimals(pair: str, *, info: ChainInfo) -> int | None:
    """Return a paired token's decimals by the registry; None if they have to be read from the chain."""
    quote = info.quote_tokens.get(pair.lower())
    if quote:
        return quote.decimals
    return _NATIVE_DECIMALS if pair == info.wrapped_native else None


# Parts that need their own contract: attribute, name in the body, role.
_CONTRACTS = (
    ("vault", "vault", "vault"),
    ("airdrop", "airdrop", "airdrop"),
    ("presale", "presale", "presale"),
    ("own_buy", "devBuy", "dev_buy"),
)


def find_problems(values: Mapping[str, Any], *, info: ChainInfo | None) -> Iterator[Problem]:
    """Yield broken rules between a body's parts; the chain's rules only if the chain is known."""
    yield from _supply_problems(values)
    yield from _text_problems(values)
    yield from _payment_problems(values)
    if info:
        yield from _contract_problems(values, info)
        if "paired_token" in values:
            yield from _pool_problems(values, info)


def price_problem(error: TickOutOfRangeError) -> Problem:
    """Return the broken rule for a market cap without a tick."""
    return "pool.initialMarketCap", f"must be a price that Uniswap has, in units of the paired token: {error}"


def _supply_problems(values: Mapping[str, Any]) -> Iterator[Problem]:
    paths = {"vault": "vault.percentage", "airdrop": "airdrop.entries", "presale": "presale.presaleSupplyBps"}
    shares = {path: values[name].bps if values.get(name) else 0 for name, path in paths.items()}
    total = sum(shares.values())
    if total > MAX_EXTENSION_BPS:
        # The largest share is the most probable mistake.
        yield (
            max(shares, key=lambda path: shares[path]),
            f"must leave a tenth to the pool: vault, airdrop and presale are {total / 100:g} percent together,"
            f" of {MAX_EXTENSION_BPS // 100} at most",
        )


def _text_problems(values: Mapping[str, Any]) -> Iterator[Problem]:
    if "name" not in values:
        return
    metadata = on_chain_json({key: values[key] for key in token_texts.METADATA})
    texts = (values["name"], values["symbol"], values["image"], metadata, on_chain_json(values.get("context") or {}))
    if sum(len(text.encode()) for text in texts) > token_texts.MAX_ON_CHAIN_BYTES:
        yield (
            "token",
            f"must have at most {token_texts.MAX_ON_CHAIN_BYTES} bytes of UTF-8 in name, symbol, image, metadata and"
            " context together, since all of it is stored on chain",
        )


def _payment_problems(values: Mapping[str, Any]) -> Iterator[Problem]:
    presale, buy = values.get("presale"), values.get("own_buy")
    if presale and presale.min_goal > presale.max_goal:
        yield "presale.minEthGoal", "must be at most maxEthGoal, in ETH"
    most: Decimal = settings.DEPLOY_MAX_DEV_BUY_ETH
    if buy and not values.get("unsigned") and buy.wei > most * scalars.WEI_PER_COIN:
        yield (
            "devBuy.ethAmount",
            f"must be at most {most.normalize():f}, in ETH: this service pays no more for one launch",
        )
    if buy and presale:
        yield "devBuy", "must not be given with a presale: the launch that ends the sale has no payer for it"


def _contract_problems(values: Mapping[str, Any], info: ChainInfo) -> Iterator[Problem]:
    needed = [(path, role, path) for attribute, path, role in _CONTRACTS if values.get(attribute)]
    if fees := values.get("fees"):
        needed.insert(0, ("fees.type", f"{fees.kind}_hook", f"{fees.kind} fees"))
    presale = values.get("presale")
    if presale and presale.allowlist:
        needed.append(("presale.allowlist", "presale_allowlist", "allowlist for a presale"))
    for path, role, what in needed:
        if info.deploying(role) is None:
            yield path, f"must not be given: {info.name} offers no {what}"


def _pool_problems(values: Mapping[str, Any], info: ChainInfo) -> Iterator[Problem]:
    pair = pair_address(values["paired_token"], info=info)
    if not pair:
        yield "pool.pairedToken", f"must be an address: no wrapped native coin of {info.name} is known"
        return
    if values.get("own_buy") and pair != info.wrapped_native:
        # A launch is paid in the native coin, and its request names no pool for buying another token first.
        yield "devBuy", f"needs a token that is paired with {WRAPPED_NATIVE}: no pool to buy another one in is given"
    decimals = known_decimals(pair, info=info)
    if decimals is not None:
        try:
            place_liquidity(values["market_cap"], decimals=decimals, preset=registry().presets[values["preset"]])
        except TickOutOfRangeError as error:
            yield price_problem(error)
