"""What the parts of a configuration must keep between them and on their chain: each raises ValueError with the rule."""

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from django.conf import settings

from config.json_rules import Problem, below
from tokens.chains.launching.launch_config import MAX_EXTENSION_BPS, DynamicFee
from tokens.chains.launching.launch_ticks import BeyondTicks, shifted_positions, starting_tick
from tokens.chains.registry.chains import ChainInfo, Position, Preset
from tokens.deploying.rules import scalars, token_texts
from tokens.deploying.rules.airdrop_entries import bps_of
from tokens.installation.installed_chains import registry

# Those of any wrapped native coin.
_NATIVE_DECIMALS = 18
WRAPPED_NATIVE = "WETH"


def paired_token(value: object) -> str:
    """An address, or the word for the chain's wrapped native coin, which stays a word until the chain is known."""
    if value == WRAPPED_NATIVE:
        return WRAPPED_NATIVE
    try:
        return scalars.address(value)
    except ValueError as error:
        raise ValueError(f"{error}, or {WRAPPED_NATIVE}") from error


def pair_address(paired: str, *, info: ChainInfo) -> str:
    """The address behind what `paired_token` took."""
    if paired != WRAPPED_NATIVE:
        return paired
    if info.wrapped_native is None:
        raise ValueError(f"must be an address: no wrapped native coin of {info.name} is known")
    return info.wrapped_native


def known_decimals(pair: str, *, info: ChainInfo) -> int | None:
    """The decimals of a paired token as the registry has them; None where the chain has to be asked."""
    quote = info.quote_tokens.get(pair.lower())
    if quote:
        return quote.decimals
    return _NATIVE_DECIMALS if pair == info.wrapped_native else None


def place(market_cap: Decimal, *, decimals: int, preset: Preset) -> tuple[int, tuple[Position, ...]]:
    """The starting tick and the positions of a market cap in whole units of a token with so many decimals."""
    try:
        tick = starting_tick(market_cap, decimals=decimals)
        return tick, shifted_positions(preset, tick=tick)
    except BeyondTicks as error:
        raise ValueError(f"must be a price that Uniswap has, in units of the paired token: {error}") from error


def check_supply(*bps: int) -> None:
    """The parts of the supply that don't go into the pool."""
    if sum(bps) > MAX_EXTENSION_BPS:
        raise ValueError(
            f"must leave a tenth to the pool: vault, airdrop and presale are {sum(bps) / 100:g} percent together,"
            f" of {MAX_EXTENSION_BPS // 100} at most"
        )


def check_goals(least: int, most: int) -> None:
    """The goals of a presale."""
    if least > most:
        raise ValueError("must be at most maxEthGoal, in ETH")


def check_own_buy(wei: int, *, most: Decimal) -> None:
    """What our wallet pays for within a launch; `most` is in native coins."""
    if wei > most * scalars.WEI_PER_COIN:
        raise ValueError(f"must be at most {most.normalize():f}, in ETH: this service pays no more for one launch")


def check_own_buy_now(*, presale: bool) -> None:
    """Whether there is a launch of ours to buy in."""
    if presale:
        raise ValueError("must not be given with a presale: nobody would pay for it when the sale ends in the launch")


def check_own_buy_pair(pair: str, *, info: ChainInfo) -> None:
    """A launch is paid in the native coin, and an order names no pool in which another token could be bought first."""
    if pair != info.wrapped_native:
        raise ValueError(f"needs a token that is paired with {WRAPPED_NATIVE}: no pool to buy another one in is given")


def check_offered(info: ChainInfo, *, role: str, what: str) -> None:
    """Whether the chain has the contract for a part of the launch."""
    if info.deploying(role) is None:
        raise ValueError(f"must not be given: {info.name} offers no {what}")


# What the parts of a deployment's body break between them: found in those parts whose own rules are kept.
# Part of a body -> role of the contract that it needs.
_CONTRACTS = {"vault": "vault", "airdrop": "airdrop", "presale": "presale", "devBuy": "dev_buy"}


class _Findings:
    """The rules that were found broken, each with its field."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def check(self, field: str, rule: Callable[..., Any], *values: Any, **named: Any) -> Any:
        """What the rule returns; None where it is broken."""
        try:
            return rule(*values, **named)
        except ValueError as error:
            self.problems += below(field, error)
            return None


def find_problems(taken: Mapping[str, Any], *, info: ChainInfo | None) -> list[Problem]:
    """The rules that are broken between what was taken of a body; those of a chain where the chain is known."""
    findings = _Findings()
    _check_supply(findings, taken)
    _check_texts(findings, taken)
    if presale := taken.get("presale"):
        findings.check("presale.minEthGoal", check_goals, presale["minEthGoal"], presale["maxEthGoal"])
    if dev_buy := taken.get("devBuy"):
        most = settings.DEPLOY_MAX_DEV_BUY_ETH
        findings.check("devBuy.ethAmount", check_own_buy, dev_buy["ethAmount"], most=most)
        findings.check("devBuy", check_own_buy_now, presale=presale is not None)
    if info:
        _check_contracts(findings, taken, info)
        _check_pool(findings, taken, info)
    return findings.problems


def _check_supply(findings: _Findings, taken: Mapping[str, Any]) -> None:
    vault, airdrop, presale = taken.get("vault"), taken.get("airdrop"), taken.get("presale")
    shares = {
        "vault.percentage": vault["percentage"] if vault else 0,
        "airdrop.entries": bps_of(sum(wei for _, wei in airdrop["entries"])) if airdrop else 0,
        "presale.presaleSupplyBps": presale["presaleSupplyBps"] if presale else 0,
    }
    # The largest of them is the one that most probably was meant otherwise.
    findings.check(max(shares, key=lambda field: shares[field]), check_supply, *shares.values())


def _check_texts(findings: _Findings, taken: Mapping[str, Any]) -> None:
    if token := taken.get("token"):
        metadata = token_texts.on_chain_json({key: token[key] for key in token_texts.METADATA})
        context = token_texts.on_chain_json(taken.get("context") or {})
        on_chain = (token["name"], token["symbol"], token["image"], metadata, context)
        findings.check("token", token_texts.check_length, *on_chain)


def _check_contracts(findings: _Findings, taken: Mapping[str, Any], info: ChainInfo) -> None:
    if fees := taken.get("fees"):
        kind = "dynamic" if isinstance(fees, DynamicFee) else "static"
        findings.check("fees.type", check_offered, info, role=f"{kind}_hook", what=f"{kind} fees")
    for part, role in _CONTRACTS.items():
        if taken.get(part):
            findings.check(part, check_offered, info, role=role, what=part)
    presale = taken.get("presale")
    if presale and presale["allowlist"]:
        what = "allowlist for a presale"
        findings.check("presale.allowlist", check_offered, info, role="presale_allowlist", what=what)


def _check_pool(findings: _Findings, taken: Mapping[str, Any], info: ChainInfo) -> None:
    pool = taken.get("pool")
    if not pool:
        return
    pair = findings.check("pool.pairedToken", pair_address, pool["pairedToken"], info=info)
    if pair is None:
        return
    if taken.get("devBuy"):
        findings.check("devBuy", check_own_buy_pair, pair, info=info)
    decimals = known_decimals(pair, info=info)
    if decimals is not None:
        market_cap, preset = pool["initialMarketCap"], registry().presets[pool["type"]]
        findings.check("pool.initialMarketCap", place, market_cap, decimals=decimals, preset=preset)
