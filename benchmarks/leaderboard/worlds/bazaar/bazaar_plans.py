"""Agents' plans: kinds, owners, partner keys, attacks and framings, before anything happens."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import groupby

import numpy as np

# Shares per mille.
_KINDS = {"command bot": 90, "price bot": 90, "bot magnet": 60, "two-sided treasury": 50, "market maker": 60}
_KINDS |= {"club": 50, "viral": 40, "onboarding": 40, "time zone": 60}
_FAMILY, _SPARSE_RING, _FRAMING = 60, 9, 6.3
# Trading is what this world's attackers make up first.
_ATTACKS = {"cross-owner ring": 12, "volume wash": 14, "rented fans": 12, "covered farm": 9, "slow drip": 7}
_ATTACKS |= {"mimicked delays": 6, "paraphrase": 6, "named accounts": 6, "invented accounts": 5, "own word": 5}
_SIDE_ATTACKS = ("rented fans", "slow drip", "paraphrase", "invented accounts", "mimicked delays", "named accounts")
# The reporter itself makes these up, so that the operator is not the reporter.
_REPORTED_ATTACKS = {"named accounts", "invented accounts", "own word"}
# A planted agent's median interactions, as far as it differs from 170.
_PLANTED_MEDIANS = {"sparse ring": 50, "cross-owner ring": 110, "own word": 8, "volume wash": 90}


@dataclass
class BazaarPlan:
    """An agent's plan. `size` counts organic and bought interactions, reporter 0 the operator."""

    owner: int
    kind: str
    attack: str
    side_attack: str = ""
    framing: str = ""
    reporter: int = 0
    # -1 for none. One owner's ring has the owner's number.
    ring: int = -1
    size: int = 0
    is_traded: bool = False


def draw_plans(rng: np.random.Generator, agents: int, framings: Iterable[str]) -> list[BazaarPlan]:
    """Return plans for `agents` agents, sorted by owner and partner key."""
    plans = _draw_owners(rng, agents)
    ordinary = [plan for plan in plans if plan.kind == "ordinary"]
    for row, kind in zip(rng.permutation(len(ordinary)), _repeat_names(_KINDS, agents), strict=False):
        ordinary[row].kind = kind
    free = [plan for plan in plans if not plan.attack]
    victims = [free[row] for row in rng.permutation(len(free))]
    for place, attack in enumerate(_repeat_names(_ATTACKS, agents)):
        plan = victims.pop()
        plan.attack = attack
        if attack == "cross-owner ring":
            plan.ring = agents + min(place // 6, agents // 600)
        elif attack != "own word" and rng.random() < (0.6 if attack == "volume wash" else 0.25):
            plan.side_attack = str(rng.choice([name for name in _SIDE_ATTACKS if name != attack]))
    for framing in _repeat_names(dict.fromkeys(framings, _FRAMING), agents):
        victims.pop().framing = framing
    _assign_reporters(rng, plans)
    for plan in plans:
        _draw_size(rng, plan)
    return plans


def _repeat_names(shares: Mapping[str, float], agents: int) -> list[str]:
    """Return each name as often as its share per mille requires."""
    return [name for name in shares for _ in range(max(1, round(shares[name] * agents / 1_000)))]


def _draw_owners(rng: np.random.Generator, agents: int) -> list[BazaarPlan]:
    """Return plans by owner. One owner's families and rings have three to five agents, other owners one to four."""
    in_rings, in_families = max(3, round(_SPARSE_RING * agents / 1_000)), round(_FAMILY * agents / 1_000)
    blocks = [("ordinary", "sparse ring", len(part)) for part in np.array_split(np.arange(in_rings), in_rings // 3)]
    blocks += [("family", "", len(part)) for part in np.array_split(np.arange(in_families), max(1, in_families // 4))]
    left = agents - in_rings - in_families
    while left > 0:
        size = min(left, int(rng.choice([1, 2, 3, 4], p=[0.74, 0.15, 0.07, 0.04])))
        blocks.append(("ordinary", "", size))
        left -= size
    plans = []
    for owner, row in enumerate(rng.permutation(len(blocks)).tolist()):
        kind, attack, size = blocks[row]
        plans += [BazaarPlan(owner, kind, attack, ring=owner if attack else -1) for _ in range(size)]
    return plans


def _assign_reporters(rng: np.random.Generator, plans: list[BazaarPlan]) -> None:
    """Give owners to partner keys of 1 to 40 agents, with a heavy tail; a few are the operator's."""
    key, room = 0, 0
    for _, group in groupby(plans, lambda plan: plan.owner):
        block = list(group)
        attacks = {attack for plan in block for attack in (plan.attack, plan.side_attack)}
        if rng.random() < 0.06 and not attacks & _REPORTED_ATTACKS:
            continue
        if room < len(block):
            key += 1
            room = max(len(block), min(40, 1 + int(rng.pareto(0.75))))
        room -= len(block)
        for plan in block:
            plan.reporter = key


def _draw_size(rng: np.random.Generator, plan: BazaarPlan) -> None:
    """Draw the interactions: most agents are small and few are big; only agents with a public are worth framing."""
    if plan.attack:
        size = rng.lognormal(np.log(_PLANTED_MEDIANS.get(plan.attack, 170)), 0.8)
    elif plan.framing:
        size = 40 + rng.lognormal(np.log(90), 1)
    else:
        size = (rng.random() > 0.08) * rng.lognormal(np.log(24), 1.5) * (5 if plan.kind == "viral" else 1)
    plan.size = int(min(size, 300 if plan.kind == "club" else 5_000))
    is_trader = plan.kind in {"two-sided treasury", "market maker"} or plan.attack == "volume wash"
    plan.is_traded = is_trader or plan.framing == "back and forth" or bool(rng.random() < 0.6)
