"""What the parts of a configuration must keep between them and on their chain: each raises ValueError with the rule."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from django.conf import settings

from config.json_rules import Problem, nested_problems
from tokens.chains.launching.launch_config import MAX_EXTENSION_BPS, DynamicFee
from tokens.chains.launching.launch_ticks import TickOutOfRangeError, shifted_positions, starting_tick
from tokens.chains.registry.chains import ChainInfo, Position, Preset
from tokens.deploying.rules import scalars, token_texts
from tokens.deploying.rules.airdrop_entries import supply_bps
from tokens.installation.installed_chains import registry

# Decimals of any wrapped native coin.
_NATIVE_DECIMALS = 18
WRAPPED_NATIVE = "WETH"


def paired_token(value: object) -> str:
    """Parse an address, or WETH, which stays a word until the chain is known."""
    if value == WRAPPED_NATIVE:
        return WRAPPED_NATIVE
    try:
        return scalars.address(value)
    except ValueError as error:
        raise ValueError(f"{error}, or {WRAPPED_NATIVE}") from error


def pair_address(paired: str, *, info: ChainInfo) -> str:
    """Return the address of what `paired_token` parsed. Raises ValueError without a known wrapped native coin."""
    if paired != WRAPPED_NATIVE:
        return paired
    if info.wrapped_native is None:
        raise ValueError(f"must be an address: no wrapped native coin of {info.name} is known")
    return info.wrapped_native


def known_decimals(pair: str, *, info: ChainInfo) -> int | None:
    """Return the decimals of a paired token in the registry; None if they have to be read from the chain."""
    quote = info.quote_tokens.get(pair.lower())
    if quote:
        return quote.decimals
    return _NATIVE_DECIMALS if pair == info.wrapped_native else None


def place_positions(market_cap: Decimal, *, decimals: int, preset: Preset) -> tuple[int, tuple[Position, ...]]:
    """Return the starting tick and the positions of a market cap, in whole units of a token with these decimals."""
    try:
        tick = starting_tick(market_cap, decimals=decimals)
        return tick, shifted_positions(preset, tick=tick)
    except TickOutOfRangeError as error:
        raise ValueError(f"must be a price that Uniswap has, in units of the paired token: {error}") from error


def check_supply(*bps: int) -> None:
    """Raise ValueError if the parts outside the pool leave less than a tenth of the supply to it."""
    if sum(bps) > MAX_EXTENSION_BPS:
        raise ValueError(
            f"must leave a tenth to the pool: vault, airdrop and presale are {sum(bps) / 100:g} percent together,"
            f" of {MAX_EXTENSION_BPS // 100} at most"
        )


def check_goals(least: int, most: int) -> None:
    """Raise ValueError if the minimum goal of a presale is above its maximum."""
    if least > most:
        raise ValueError("must be at most maxEthGoal, in ETH")


def check_own_buy(wei: int, *, most: Decimal) -> None:
    """Raise ValueError if the service's wallet would pay more than `most` native coins within one launch."""
    if wei > most * scalars.WEI_PER_COIN:
        raise ValueError(f"must be at most {most.normalize():f}, in ETH: this service pays no more for one launch")


def check_own_buy_now(*, presale: bool) -> None:
    """Raise ValueError for a purchase within a presale's launch, which the service does not send."""
    if presale:
        raise ValueError("must not be given with a presale: the launch that ends the sale has no payer for it")


def check_own_buy_pair(pair: str, *, info: ChainInfo) -> None:
    """Raise ValueError for a purchase in a pool of another token than the wrapped native coin.

    A launch is paid in the native coin, and its request names no pool in which to buy another token first.
    """
    if pair != info.wrapped_native:
        raise ValueError(f"needs a token that is paired with {WRAPPED_NATIVE}: no pool to buy another one in is given")


def check_offered(info: ChainInfo, *, role: str, what: str) -> None:
    """Raise ValueError if the chain has no contract for a part of the launch."""
    if info.deploying(role) is None:
        raise ValueError(f"must not be given: {info.name} offers no {what}")


_CONTRACTS = {"vault": "vault", "airdrop": "airdrop", "presale": "presale", "devBuy": "dev_buy"}


class _ProblemList:
    """List of broken rules, each with its field."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def check(self, field: str, rule: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """Return the rule's result; None if it is broken, which is added to the list."""
        try:
            return rule(*values, **named)
        except ValueError as error:
            self.problems += nested_problems(field, error)
            return None


def find_problems(parsed: Mapping[str, Any], *, info: ChainInfo | None) -> list[Problem]:
    """Return the rules broken between the parsed parts of a body; the chain's rules only if the chain is known."""
    findings = _ProblemList()
    _check_supply(findings, parsed)
    _check_texts(findings, parsed)
    if presale := parsed.get("presale"):
        findings.check("presale.minEthGoal", check_goals, presale["minEthGoal"], presale["maxEthGoal"])
    if dev_buy := parsed.get("devBuy"):
        most = settings.DEPLOY_MAX_DEV_BUY_ETH
        findings.check("devBuy.ethAmount", check_own_buy, dev_buy["ethAmount"], most=most)
        findings.check("devBuy", check_own_buy_now, presale=presale is not None)
    if info:
        _check_contracts(findings, parsed, info)
        _check_pool(findings, parsed, info)
    return findings.problems


def _check_supply(findings: _ProblemList, parsed: Mapping[str, Any]) -> None:
    vault, airdrop, presale = parsed.get("vault"), parsed.get("airdrop"), parsed.get("presale")
    shares = {
        "vault.percentage": vault["percentage"] if vault else 0,
        "airdrop.entries": supply_bps(sum(wei for _, wei in airdrop["entries"])) if airdrop else 0,
        "presale.presaleSupplyBps": presale["presaleSupplyBps"] if presale else 0,
    }
    # The largest share is the most probable mistake.
    findings.check(max(shares, key=lambda field: shares[field]), check_supply, *shares.values())


def _check_texts(findings: _ProblemList, parsed: Mapping[str, Any]) -> None:
    if token := parsed.get("token"):
        metadata = token_texts.on_chain_json({key: token[key] for key in token_texts.METADATA})
        context = token_texts.on_chain_json(parsed.get("context") or {})
        on_chain = (token["name"], token["symbol"], token["image"], metadata, context)
        findings.check("token", token_texts.check_length, *on_chain)


def _check_contracts(findings: _ProblemList, parsed: Mapping[str, Any], info: ChainInfo) -> None:
    if fees := parsed.get("fees"):
        kind = "dynamic" if isinstance(fees, DynamicFee) else "static"
        findings.check("fees.type", check_offered, info, role=f"{kind}_hook", what=f"{kind} fees")
    for part, role in _CONTRACTS.items():
        if parsed.get(part):
            findings.check(part, check_offered, info, role=role, what=part)
    presale = parsed.get("presale")
    if presale and presale["allowlist"]:
        what = "allowlist for a presale"
        findings.check("presale.allowlist", check_offered, info, role="presale_allowlist", what=what)


def _check_pool(findings: _ProblemList, parsed: Mapping[str, Any], info: ChainInfo) -> None:
    pool = parsed.get("pool")
    if not pool:
        return
    pair = findings.check("pool.pairedToken", pair_address, pool["pairedToken"], info=info)
    if pair is None:
        return
    if parsed.get("devBuy"):
        findings.check("devBuy", check_own_buy_pair, pair, info=info)
    decimals = known_decimals(pair, info=info)
    if decimals is not None:
        market_cap, preset = pool["initialMarketCap"], registry().presets[pool["type"]]
        findings.check("pool.initialMarketCap", place_positions, market_cap, decimals=decimals, preset=preset)
