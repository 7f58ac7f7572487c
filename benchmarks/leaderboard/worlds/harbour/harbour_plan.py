"""Harbour's plan: owners with their agents and partner keys, public kinds, buyers and victims."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from leaderboard.facts.columns import Float64Array, Int64Array

_PLANTED, _FRAMED, _COMBINED = 0.09, 0.05, 0.2
# Each kind's share but "ordinary".
_KIND_SHARE = 0.055
_KINDS = ["command bot", "price bot", "bot magnet", "two-sided treasury", "market maker", "club", "viral", "onboarding"]
_KINDS += ["time zone"]
# One owner's agents that buy together: owners act for several agents at once.
_TOGETHER = {"sparse ring": 4, "named accounts": 3, "invented accounts": 3, "own word": 2, "covered farm": 2}
_FORGED_BY_REPORTER = ("named accounts", "invented accounts")
_ADDITIONS = ("slow drip", "rented fans", "mimicked delays", "paraphrase")
# Launch platforms' keys that small owners share.
_SHARED_KEYS = 3


@dataclass
class HarbourAgent:
    """Agent with its plan, its casts, and its honest public's size."""

    index: int
    owner: int
    reporter: int
    kind: str = "ordinary"
    attack: str = ""
    addition: str = ""
    framing: str = ""
    casts: Int64Array = field(default_factory=lambda: np.empty(0, np.int64))
    cast_at: Int64Array = field(default_factory=lambda: np.empty(0, np.int64))
    # The token amounts' scale.
    lot: float = 0.0
    organic: int = 0
    organic_trades: int = 0
    # Each cast's share in the public's attention.
    popularity: Float64Array = field(default_factory=lambda: np.empty(0))


def plan_agents(
    rng: np.random.Generator, count: int, attacks: Sequence[str], framings: Sequence[str]
) -> list[HarbourAgent]:
    """Return the agents, sorted by owner. A few owners run dozens with one key."""
    owners = max(int(count * 0.35), 1)
    ranks = np.arange(1, owners + 1) ** -0.9
    of_agents = np.sort(rng.choice(owners, count, p=ranks / ranks.sum()))
    luck = rng.random(owners)
    keys = np.where(luck < 0.75, _SHARED_KEYS + 1 + np.arange(owners), rng.integers(1, _SHARED_KEYS + 1, owners))
    keys[luck > 0.95] = 0
    agents = [HarbourAgent(index, owner, int(keys[owner])) for index, owner in enumerate(of_agents.tolist())]
    _plan_kinds(rng, agents)
    for attack in attacks:
        _plan_attack(rng, agents, attack, max(round(_PLANTED * count / len(attacks)), 2))
    honest = [agent for agent in agents if not agent.attack]
    for number, chosen in enumerate(rng.permutation(len(honest))[: max(round(_FRAMED * count), 8)].tolist()):
        honest[chosen].framing = framings[number % len(framings)]
    return agents


def _plan_kinds(rng: np.random.Generator, agents: list[HarbourAgent]) -> None:
    share = round(_KIND_SHARE * len(agents))
    relatives = 0
    for start in rng.permutation(len(agents)).tolist():
        members = [each for each in agents[start : start + 5] if each.owner == agents[start].owner]
        if relatives < share and len(members) >= 3:
            relatives += len(members)
            for member in members:
                member.kind = "family"
    others = [agent for agent in agents if agent.kind == "ordinary"]
    for number, chosen in enumerate(rng.permutation(len(others))[: share * len(_KINDS)].tolist()):
        others[chosen].kind = _KINDS[number % len(_KINDS)]


def _plan_attack(rng: np.random.Generator, agents: list[HarbourAgent], attack: str, missing: int) -> None:
    owners: set[int] = set()
    for start in rng.permutation(len(agents)).tolist():
        owner = agents[start].owner
        group = [each for each in agents if each.owner == owner and not each.attack]
        is_excluded = attack in _FORGED_BY_REPORTER and agents[start].reporter <= _SHARED_KEYS
        if is_excluded or owner in owners or len(group) < (3 if attack == "sparse ring" else 1):
            continue
        owners.add(owner)
        group = [group[place] for place in rng.permutation(len(group))[: min(_TOGETHER.get(attack, 1), missing)]]
        missing -= len(group)
        for agent in group:
            agent.attack = attack
            if attack != "own word" and rng.random() < _COMBINED:
                agent.addition = str(rng.choice([each for each in _ADDITIONS if each != attack]))
        if missing <= 0:
            return
