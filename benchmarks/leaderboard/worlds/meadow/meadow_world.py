"""The meadow world's builder: community, and the agents with their owners, casts and runs."""

import numpy as np
import numpy.typing as npt

from benchmarks.leaderboard.worlds.meadow.meadow_attacks import add_attacks
from benchmarks.leaderboard.worlds.meadow.meadow_crowd import ZONES, Meadow, MeadowAgent, draw_scores, shift_to_waking
from benchmarks.leaderboard.worlds.meadow.meadow_publics import add_publics
from benchmarks.leaderboard.worlds.meadow.meadow_trades import add_trades_of_tokens
from benchmarks.leaderboard.worlds.world import DAY, POST, QUOTE, REPLY, WEEK, World, WorldBuilder
from leaderboard.facts.columns import BoolArray, Int64Array

MeadowNames = npt.NDArray[np.str_]
# Kinds of 6 % and 4.5 % of the agents.
_FREQUENT = ("command bot", "price bot", "club", "family", "time zone")
_RARE = ("bot magnet", "two-sided treasury", "market maker", "viral", "onboarding")
# The organic interaction count's logarithm: median and spread.
_SIZES = {"viral": (260, 0.8), "club": (110, 0.6), "onboarding": (60, 0.9), "price bot": (45, 1.0)}
_USUAL_SIZE, _VICTIM_SIZE = (27, 1.45), (120, 0.7)
_RINGS = ("sparse ring", "cross-owner ring")
# Attacks by the reporter itself, which therefore is not the operator or others' host.
_REPORTED = ("named accounts", "invented accounts", "own word")
_ATTACKS = ("slow drip", "rented fans", "covered farm", "mimicked delays", "paraphrase", "volume wash", *_REPORTED)
_BY_CROWD = ("same text", "burst", "low scores", "devoted crowd")
_FRAMINGS = ("adjoining ids", "back and forth", "clockwork", "forced ring", *_BY_CROWD)
_HOSTS = 6
# Casts from the two days before the interval still receive interactions.
_CAST_SECONDS = WEEK + 2 * DAY


def build_world(*, seed: int, stealth: float, agents: int = 1000) -> World:
    """Build a week; `stealth` is the organic share in a planted agent's engagement."""
    builder = WorldBuilder(seed)
    meadow = Meadow(builder, builder.rng, stealth, builder.new_keys(60))
    _settle(meadow, agents)
    _plan_agents(meadow, agents)
    for agent in meadow.agents:
        _work(meadow, agent)
    add_publics(meadow)
    add_attacks(meadow)
    add_trades_of_tokens(meadow)
    return builder.build()


def _settle(meadow: Meadow, agents: int) -> None:
    """Add people, programs and, last, the agents' accounts: an old community with few unknown scores."""
    rng, count, programs, blocks = meadow.rng, 9 * agents, agents // 4, max(6, agents // 30)
    ages = np.where(rng.random(count) < 0.06, rng.uniform(1, 60, count), 60 + 1_600 * rng.beta(2, 1.5, count))
    scores = np.where(rng.random(count) < 0.15, draw_scores(rng, count, 0.22), draw_scores(rng, count, 0.6, 0.05))
    scores[(ages < 40) & (rng.random(count) < 0.5)] = np.nan
    people = meadow.recruit(ages, scores, blocks=blocks)
    scores = np.append(draw_scores(rng, programs, 0.4, 0.15), draw_scores(rng, agents, 0.5, 0.1))
    ages = rng.uniform(10, 1_000, programs + agents)
    meadow.people = people.joined(meadow.recruit(ages, scores, blocks=blocks, is_program=True))


def _plan_agents(meadow: Meadow, count: int) -> None:
    """Add the agents; the planted and the framed ones are of any kind."""
    rng, people = meadow.rng, meadow.people
    named = [*_FREQUENT * round(0.06 * count), *_RARE * round(0.045 * count)]
    kinds = rng.permutation(np.array(named + ["ordinary"] * (count - len(named))))
    attacks, framings = _draw_targets(rng, count)
    meadow.families = _groups(kinds == "family")
    meadow.rings = [ring for name in _RINGS for ring in _groups(attacks == name)]
    creators, reporters = _draw_owners(meadow, attacks)
    fids, blocks = people.fids[-count:], people.blocks[-count:, 0]
    # Few agents are described without their account.
    fids = np.where((rng.random(count) < 0.03) & ~np.isin(attacks, _RINGS), 0, fids)
    for index in range(count):
        kind, attack, framing, fid = str(kinds[index]), str(attacks[index]), str(framings[index]), int(fids[index])
        owner = {"creator_fid": int(creators[index]), "reporter": int(reporters[index])}
        meadow.builder.add_agent(kind, fid=fid, attack=attack, framing=framing, **owner)
        size, bought = _draw_size(meadow, kind, attack, framing)
        zone, block = float(rng.choice(ZONES)), int(blocks[index])
        meadow.agents.append(MeadowAgent(index, kind, attack, framing, fid, block, zone, size, bought))


def _draw_targets(rng: np.random.Generator, count: int) -> tuple[MeadowNames, MeadowNames]:
    """Return each agent's attack and framing, "" for none; small worlds have each one, too."""
    planted, framed = max(15, round(0.09 * count)), max(len(_FRAMINGS), round(0.05 * count))
    names = list(_RINGS) * max(3, planted // (len(_ATTACKS) + len(_RINGS)))
    names += [_ATTACKS[place % len(_ATTACKS)] for place in range(planted - len(names))]
    chosen = rng.permutation(count)
    attacks, framings = np.full(count, "", "U20"), np.full(count, "", "U20")
    attacks[chosen[:planted]] = names
    framings[chosen[planted : planted + framed]] = np.resize(_FRAMINGS, framed)
    return attacks, framings


def _groups(mask: BoolArray) -> list[list[int]]:
    """Return the true values' indices in groups of four or a few more."""
    return [group.tolist() for group in np.array_split(np.flatnonzero(mask), max(1, mask.sum() // 4))]


def _draw_owners(meadow: Meadow, attacks: MeadowNames) -> tuple[Int64Array, Int64Array]:
    """Return each agent's creator and partner key: mostly its own key, few from hosts or the operator."""
    rng, people, count = meadow.rng, meadow.people, len(attacks)
    owners = rng.choice(people.fids[~people.is_program], count, replace=False)
    creators = np.where(rng.random(count) < 0.06, 0, rng.choice(owners, count))
    own_keys = _HOSTS + 1 + np.arange(count)
    reporters = np.where(rng.random(count) < 0.15, rng.integers(0, _HOSTS + 1, count), own_keys)
    for group in meadow.families + [ring for ring in meadow.rings if attacks[ring[0]] == "sparse ring"]:
        # A ring's careful owner hides that the agents have one owner; a family does not.
        if group in meadow.families or rng.random() < 0.6:
            creators[group] = rng.choice(owners)
        if rng.random() < 0.6:
            reporters[group] = own_keys[group[0]]
    return creators, np.where(np.isin(attacks, _REPORTED), own_keys, reporters)


def _draw_size(meadow: Meadow, kind: str, attack: str, framing: str) -> tuple[int, int]:
    """Return the organic and bought interaction counts, or cast counts where the agent has no public."""
    # Buyers want to pass from the middle to the top, sparse rings reach less, and enemies choose worthy victims.
    rng = meadow.rng
    if attack:
        total = rng.lognormal(np.log(90 if attack in _RINGS else 280), 0.5)
        size, bought = max(1, round(meadow.stealth * total)), max(3, round((1 - meadow.stealth) * total))
        return (0, bought) if attack == "own word" else (size, bought)
    median, spread = _VICTIM_SIZE if framing else _SIZES.get(kind, _USUAL_SIZE)
    is_unseen = kind == "ordinary" and not framing and rng.random() < 0.06
    return 0 if is_unseen else int(min(rng.lognormal(np.log(median), spread), 3_500)), 0


def _work(meadow: Meadow, agent: MeadowAgent) -> None:
    """Add the agent's own casts, more if its public is large, and its runs, which mostly succeed."""
    rng, builder = meadow.rng, meadow.builder
    at = _cast_times(meadow, agent, int(np.clip(rng.lognormal(np.log(10 + agent.size**0.6), 0.7), 3, 450)))
    if agent.attack == "own word":
        at = _cast_times(meadow, agent, round(agent.bought * meadow.stealth / (1 - meadow.stealth)) + 3)
    kinds = rng.choice([POST, POST if agent.kind == "price bot" else REPLY, QUOTE], len(at), p=[0.58, 0.32, 0.1])
    texts = np.where(rng.random(len(at)) < 0.04, rng.choice(meadow.phrases, len(at)), builder.new_keys(len(at)))
    agent.cast_keys = builder.add_casts(agent.index, at, kind=kinds, text=texts)
    agent.cast_at = at
    spread = 0.4 if agent.kind == "price bot" else 1
    agent.cast_weights = rng.lognormal(0, spread, len(at)) * np.where(kinds == POST, 1, 0.4)
    runs = 0 if rng.random() < 0.08 else int(min(rng.lognormal(np.log(50), 1.1), 2_000))
    builder.add_runs(agent.index, builder.start + rng.integers(1, WEEK, runs), rng.random(runs) < rng.beta(14, 1.4))


def _cast_times(meadow: Meadow, agent: MeadowAgent, count: int) -> Int64Array:
    """Return times by the clock, in the owner's evening or waking hours, or at any time."""
    rng, first = meadow.rng, meadow.builder.end - _CAST_SECONDS
    if agent.kind == "price bot" and agent.attack != "own word":
        period = int(rng.choice([1_800, 3_600, 7_200, 14_400]))
        return first + np.arange(0, _CAST_SECONDS, period) + rng.integers(0, 3, _CAST_SECONDS // period)
    if agent.kind == "time zone":
        local = rng.normal(18.5, 1.2, count) - agent.zone
        return first + rng.integers(0, _CAST_SECONDS // DAY, count) * DAY + (local * 3_600).astype(np.int64)
    at = first + rng.integers(0, _CAST_SECONDS, count)
    return shift_to_waking(rng, at, np.full(count, agent.zone)) if rng.random() < 0.5 else at
