"""The orchard agents' plan: each one's kind, attack, framing, owner and key."""

from dataclasses import dataclass, field

import numpy as np

from leaderboard.facts.columns import Int64Array

from .orchard_people import COMMUNITIES, OrchardCrowd

# Kind -> share among honest agents.
KINDS = {
    "broadcaster": 0.14,
    "chatter": 0.12,
    "burster": 0.08,
    "village": 0.08,
    "newborn": 0.08,
    "family": 0.10,
    "viral": 0.015,
    "overseas": 0.08,
    "specialist": 0.05,
    "game": 0.06,
    "sleeper": 0.17,
    # The operator imports some agents' interactions without a FID; partners report the others'.
    "fidless imported": 0.0125,
    "fidless reported": 0.0125,
}
ATTACKS = (
    "fresh farm",
    "aged bulk",
    "premium accounts",
    "cover likes",
    "quote only",
    "slow drip",
    "day spike",
    "daily roster",
    "thin day",
    "rented fans",
    "like circle",
    "many owners",
    "borrowed fid",
    "celebrity claim",
    "imported source",
    "own word",
    "wash trades",
)
FRAMINGS = ("junk crowd", "flood of names", "ring beside")
# Among all agents, those with each attack and each framing.
_ATTACK_SHARE, _FRAMED_SHARE = 0.005, 0.008
# Agent kinds whose owners buy engagement: some public exists that hides what is bought.
_PLANTED_KINDS = ("broadcaster", "chatter", "burster", "overseas")
_FRAMED_KINDS = ("broadcaster", "chatter", "village", "family", "specialist", "game")
_KEYS = 24
# Attackers' keys come after partners' keys.
_ATTACKER_KEY, _OWNERS_KEY = 1_000, 999


@dataclass
class OrchardAgent:
    """An orchard agent, and what other world parts need from its life."""

    index: int
    kind: str
    attack: str = ""
    framing: str = ""
    # One owner's agents have one creator and one key.
    owner: int = 0
    reporter: int = 0
    community: int = 0
    fid: int = 0
    creator_fid: int = 0
    # Its casts' keys and times, by time.
    casts: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    cast_at: Int64Array = field(default_factory=lambda: np.zeros(0, np.int64))
    audience: OrchardCrowd | None = None
    # Organic interaction count.
    organic: int = 0


def plan_agents(rng: np.random.Generator, count: int) -> list[OrchardAgent]:
    """Return all agents, planted ones at random places between honest ones."""
    attacks = [attack for attack in ATTACKS for _ in range(max(1, round(_ATTACK_SHARE * count)))]
    shares = np.array(list(KINDS.values()))
    kinds = rng.choice(list(KINDS), count, p=shares / shares.sum()).tolist()
    agents = [OrchardAgent(index, kind) for index, kind in enumerate(kinds)]
    for position, attack in zip(rng.permutation(count)[: len(attacks)].tolist(), attacks, strict=True):
        agents[position].attack = attack
        agents[position].kind = str(rng.choice(_PLANTED_KINDS))
    _plan_framings(rng, agents)
    _plan_owners(rng, agents)
    return agents


def _plan_framings(rng: np.random.Generator, agents: list[OrchardAgent]) -> None:
    candidates = [agent for agent in agents if not agent.attack and agent.kind in _FRAMED_KINDS]
    size = max(1, round(_FRAMED_SHARE * len(agents)))
    for place, position in enumerate(rng.permutation(len(candidates))[: size * len(FRAMINGS)].tolist()):
        candidates[position].framing = FRAMINGS[place % len(FRAMINGS)]


def _plan_owners(rng: np.random.Generator, agents: list[OrchardAgent]) -> None:
    """Give each agent an owner, a community and a key; relatives share all three."""
    popularity = 1 / np.arange(1, _KEYS + 1)
    relatives: list[OrchardAgent] = []
    for agent in agents:
        agent.owner, agent.community = agent.index, int(rng.integers(COMMUNITIES))
        # The operator describes one agent in ten itself.
        is_partners = rng.random() < 0.9
        agent.reporter = 1 + int(rng.choice(_KEYS, p=popularity / popularity.sum())) if is_partners else 0
        if agent.attack:
            agent.reporter = _OWNERS_KEY if agent.attack == "many owners" else _ATTACKER_KEY + agent.index
        elif agent.kind.startswith("fidless"):
            agent.reporter = 0 if agent.kind == "fidless imported" else 1
        elif agent.kind == "family":
            if relatives and len(relatives) < relatives[0].index % 5 + 3:
                first = relatives[0]
                agent.owner, agent.community, agent.reporter = first.owner, first.community, first.reporter
                relatives.append(agent)
            else:
                relatives = [agent]
