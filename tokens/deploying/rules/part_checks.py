"""What the parts of a deployment's body break between them: found in those parts whose own rules are kept."""

from collections.abc import Callable, Mapping
from typing import Any

from django.conf import settings

from config.json_rules import Problem, below
from tokens.chains.launching.launch_config import DynamicFee
from tokens.chains.registry.chains import ChainInfo
from tokens.deploying.rules import cross_field, token_texts
from tokens.deploying.rules.airdrop_entries import bps_of
from tokens.installation.installed_chains import registry

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
        findings.check("presale.minEthGoal", cross_field.check_goals, presale["minEthGoal"], presale["maxEthGoal"])
    if dev_buy := taken.get("devBuy"):
        most = settings.DEPLOY_MAX_DEV_BUY_ETH
        findings.check("devBuy.ethAmount", cross_field.check_own_buy, dev_buy["ethAmount"], most=most)
        findings.check("devBuy", cross_field.check_own_buy_now, presale=presale is not None)
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
    findings.check(max(shares, key=lambda field: shares[field]), cross_field.check_supply, *shares.values())


def _check_texts(findings: _Findings, taken: Mapping[str, Any]) -> None:
    if token := taken.get("token"):
        metadata = token_texts.on_chain_json({key: token[key] for key in token_texts.METADATA})
        context = token_texts.on_chain_json(taken.get("context") or {})
        on_chain = (token["name"], token["symbol"], token["image"], metadata, context)
        findings.check("token", token_texts.check_length, *on_chain)


def _check_contracts(findings: _Findings, taken: Mapping[str, Any], info: ChainInfo) -> None:
    if fees := taken.get("fees"):
        kind = "dynamic" if isinstance(fees, DynamicFee) else "static"
        findings.check("fees.type", cross_field.check_offered, info, role=f"{kind}_hook", what=f"{kind} fees")
    for part, role in _CONTRACTS.items():
        if taken.get(part):
            findings.check(part, cross_field.check_offered, info, role=role, what=part)
    presale = taken.get("presale")
    if presale and presale["allowlist"]:
        what = "allowlist for a presale"
        findings.check("presale.allowlist", cross_field.check_offered, info, role="presale_allowlist", what=what)


def _check_pool(findings: _Findings, taken: Mapping[str, Any], info: ChainInfo) -> None:
    pool = taken.get("pool")
    if not pool:
        return
    pair = findings.check("pool.pairedToken", cross_field.pair_address, pool["pairedToken"], info=info)
    if pair is None:
        return
    if taken.get("devBuy"):
        findings.check("devBuy", cross_field.check_own_buy_pair, pair, info=info)
    decimals = cross_field.known_decimals(pair, info=info)
    if decimals is not None:
        market_cap, preset = pool["initialMarketCap"], registry().presets[pool["type"]]
        findings.check("pool.initialMarketCap", cross_field.place, market_cap, decimals=decimals, preset=preset)
