"""Invented EVM launches in the chain library's types. Pure, and deterministic for a random generator."""

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from random import Random

import orjson

from development.sample_data.token_names import EMOJI, WORDS, draw_name
from tokens.chains.addresses import checksum_address
from tokens.chains.registry.chains import ChainInfo, Position, Preset, QuoteToken, Registry
from tokens.chains.types import Airdrop, DevBuy, FeeRecipient, Launch, LiquidityFees, Lockup, Pool, SniperTax, Vault

# Launch times are spread over two years up to a fixed day, so that a seed gives the same tokens on any day.
BEGIN = int(datetime.fromisoformat("2024-11-01T00:00:00Z").timestamp())
SPAN_SECONDS = 730 * 86_400
BLOCK_SECONDS = 2

# Share of the two years after which a generation was no longer used; the last generation is still in use.
_GENERATIONS = (("v0", 0.02), ("v1", 0.05), ("v2", 0.1), ("v3", 0.22), ("v3.1", 0.38), ("v4", 1.0))
# Token share on the main chain.
_MAIN_CHAIN_SHARE = 0.92
_WALLETS = 60_000
_FIDS = 900_000
# Popular names, and the token share that copies one.
_POPULAR_NAMES = 3_000
_COPIES = 0.06
_INTERFACES = ("clanker.world", "Bankr", "SDK", "Warpcast", "Launchpad UI", "agent", "Telegram bot", "CLI")
_INTERFACE_WEIGHTS = (48, 25, 12, 7, 4, 2, 1, 1)
_LINKS = ("x", "website", "telegram", "farcaster", "discord")
_LINK_HOSTS = ("x.com", "example.org", "t.me", "farcaster.xyz", "discord.gg")
_DAYS = 86_400


@cache
def wallet(number: int) -> str:
    """Return the address of wallet `number`, which does not depend on the seed."""
    return checksum_address("0x" + hashlib.sha256(b"wallet %d" % number).hexdigest()[:40])


def popular_names(seed: int) -> list[tuple[str, str]]:
    """Return names and symbols that others copy, the most copied first."""
    random = Random(f"{seed} popular")
    return [draw_name(random) for _ in range(_POPULAR_NAMES)]


def draw_launch(random: Random, *, registry: Registry, time: int, popular: Sequence[tuple[str, str]]) -> Launch:
    """Return one launch at about this time (Unix seconds), on a registry chain with a factory."""
    copied = random.random() < _COPIES
    name, symbol = popular[_rank(random, len(popular), 3)] if copied else draw_name(random)
    chain, generation = _place(random, registry, time)
    block_number = (time - BEGIN) // BLOCK_SECONDS + 1
    sender = wallet(_rank(random, _WALLETS, 5))
    admin = sender if random.random() < 0.4 else wallet(_rank(random, _WALLETS, 2))
    contracts = _contracts(chain, generation)
    pool = _draw_pool(random, contracts, generation)
    is_latest = generation == "v4"
    return Launch(
        chain_id=chain.chain_id,
        generation=generation,
        token=checksum_address("0x" + random.randbytes(20).hex()),
        tx_hash="0x" + random.randbytes(32).hex(),
        log_index=random.randrange(400),
        block_number=block_number,
        block_hash="0x" + hashlib.sha256(b"%d %d" % (chain.chain_id, block_number)).hexdigest(),
        block_time=time,
        factory=random.choice(contracts.factories),
        name=name,
        symbol=symbol,
        supply=_draw_supply(random, generation),
        extensions_supply=None,
        admin=admin,
        msg_sender=sender,
        requestor_address=wallet(_rank(random, _WALLETS, 2)) if random.random() < 0.04 else None,
        requestor_fid=_fid(random) if generation in ("v1", "v2", "v3") else None,
        cast_hash=None,
        image=_draw_image(random),
        metadata=_draw_metadata(random, name) if generation in ("v3.1", "v4") else None,
        context=_draw_context(random) if generation in ("v3.1", "v4") else None,
        # The first two generations had a locker per token.
        locker=random.choice(contracts.lockers) if contracts.lockers else wallet(_rank(random, _WALLETS, 2)),
        position_id=None if is_latest else random.randrange(1, 5_000_000),
        first_position_id=None,
        presale_id=None,
        pool=pool,
        fees=_draw_fees(random, pool) if pool else None,
        fee_recipients=_draw_recipients(random, admin) if is_latest else (),
        vault=_draw_vault(random, time) if is_latest and random.random() < 0.05 else None,
        airdrop=_draw_airdrop(random, admin, time) if is_latest and random.random() < 0.01 else None,
        dev_buy=_draw_dev_buy(random, sender) if random.random() < 0.15 else None,
        sniper_tax=SniperTax(starting_fee=666_777, ending_fee=41_673, seconds_to_decay=15) if is_latest else None,
        positions=_draw_positions(random, tuple(registry.presets.values()), pool) if pool else (),
    )


def _draw_supply(random: Random, generation: str) -> int:
    supply = random.choice((10**27, 10**28, 420_690 * 10**24)) if random.random() < 0.03 else 10**29
    # Later factories have one supply, which includes a vault's part.
    return 10**29 if generation in ("v3.1", "v4") else supply


def _rank(random: Random, count: int, steepness: int) -> int:
    """Return a number below `count`, lower numbers more often: 0 comes up in a few percent of all draws."""
    return int(count * random.random() ** steepness)


def _fid(random: Random) -> int:
    return 1 + _rank(random, _FIDS, 5)


def _place(random: Random, registry: Registry, time: int) -> tuple[ChainInfo, str]:
    """Return a chain, and its generation in use at that time."""
    age = (time - BEGIN) / SPAN_SECONDS
    generation = next((name for name, end in _GENERATIONS if age < end), "v4")
    if random.random() < _MAIN_CHAIN_SHARE:
        return next(iter(registry.chains.values())), generation
    others = _other_chains(registry)
    return others[_rank(random, len(others), 2)], "v4"


@cache
def _other_chains(registry: Registry) -> tuple[ChainInfo, ...]:
    """Return the chains with a last-generation factory."""
    return tuple(chain for chain in registry.chains.values() if chain.addresses("factory", "v4"))


@dataclass(frozen=True, slots=True)
class _Contracts:
    """A generation's contract addresses on a chain, and its quote tokens."""

    factories: tuple[str, ...]
    lockers: tuple[str, ...]
    hooks: tuple[str, ...]
    quotes: tuple[QuoteToken, ...]


@cache
def _contracts(chain: ChainInfo, generation: str) -> _Contracts:
    return _Contracts(
        factories=chain.addresses("factory", generation),
        lockers=chain.addresses("locker", generation),
        hooks=chain.addresses("static_hook", generation) + chain.addresses("dynamic_hook", generation),
        quotes=tuple(chain.quote_tokens.values()),
    )


def _draw_pool(random: Random, contracts: _Contracts, generation: str) -> Pool | None:
    if random.random() < 0.004:
        return None
    chance = random.random()
    quote = contracts.quotes[0] if chance < 0.93 else random.choice(contracts.quotes)
    # A paired token that is not in the registry.
    stranger = chance > 0.99
    pool_id = "0x" + random.randbytes(32).hex()
    usual = quote.tick if quote.tick is not None else -230_400
    return Pool(
        address=pool_id if generation == "v4" else checksum_address(pool_id[:42]),
        paired_token=wallet(_rank(random, 2_000, 2)) if stranger else quote.address,
        pair_symbol=draw_name(random)[1] if stranger else quote.symbol,
        pair_decimals=18 if stranger else quote.decimals,
        tick=usual if random.random() < 0.92 else usual + 200 * random.randrange(-200, 120),
        tick_spacing=200,
        hook=random.choice(contracts.hooks) if contracts.hooks else None,
    )


def _draw_image(random: Random) -> str | None:
    chance = random.random()
    if chance < 0.15:
        return None
    text = random.randbytes(29).hex()
    return f"ipfs://bafkrei{text[:52]}" if chance < 0.8 else f"https://images.example.org/{text[:16]}.png"


def _draw_metadata(random: Random, name: str) -> str:
    """Return metadata JSON as launchers write it; sometimes plain text."""
    chance = random.random()
    if chance < 0.05:
        return f"{name}, to the moon"
    description = f"{name}. {' '.join(random.choices(WORDS, k=random.randrange(3, 25)))}" if chance < 0.7 else ""
    if random.random() < 0.1:
        description += " " + random.choice(EMOJI)
    handle = random.randbytes(5).hex()
    indexes = [index for index in range(len(_LINKS)) if random.random() < 0.3]
    links = [{"platform": _LINKS[index], "url": f"https://{_LINK_HOSTS[index]}/{handle}"} for index in indexes]
    audits = [f"https://audits.example.org/{handle}"] if random.random() < 0.01 else []
    return orjson.dumps({"description": description, "socialMediaUrls": links, "auditUrls": audits}).decode()


def _draw_context(random: Random) -> str | None:
    chance = random.random()
    if chance < 0.05:
        return None
    interface = random.choices(_INTERFACES, _INTERFACE_WEIGHTS)[0]
    if chance < 0.4:
        return orjson.dumps({"interface": interface, "platform": "", "messageId": "", "id": ""}).decode()
    platform = "farcaster" if chance < 0.85 else "X"
    message = "0x" + random.randbytes(20).hex() if platform == "farcaster" else str(random.getrandbits(60))
    context = {"interface": interface, "platform": platform, "messageId": message, "id": str(_fid(random))}
    return orjson.dumps(context).decode()


def _draw_fees(random: Random, pool: Pool) -> LiquidityFees:
    if random.random() < 0.9:
        return LiquidityFees(type="static", clanker_fee=100, paired_fee=100, hook=pool.hook)
    return LiquidityFees(type="dynamic", base_fee=100, max_fee=500, hook=pool.hook)


def _draw_recipients(random: Random, admin: str) -> tuple[FeeRecipient, ...]:
    if random.random() < 0.7:
        return (FeeRecipient(admin=admin, recipient=admin, bps=10_000, token="Both"),)
    partner = wallet(_rank(random, 300, 2))
    share = random.randrange(500, 9_500, 500)
    return (
        FeeRecipient(admin=admin, recipient=admin, bps=share, token="Both"),
        FeeRecipient(admin=partner, recipient=partner, bps=10_000 - share, token="Paired"),
    )


def _draw_lockup(random: Random, time: int) -> Lockup:
    days = random.choice((7, 30, 90, 365))
    return Lockup(started_at=time, lock_duration=days * _DAYS, vest_duration=random.choice((0, days)) * _DAYS)


def _draw_vault(random: Random, time: int) -> Vault:
    return Vault(amount=random.randrange(1, 90) * 10**27, lockup=_draw_lockup(random, time))


def _draw_airdrop(random: Random, admin: str, time: int) -> Airdrop:
    root = "0x" + random.randbytes(32).hex()
    lockup = _draw_lockup(random, time)
    return Airdrop(amount=random.randrange(1, 20) * 10**27, merkle_root=root, admin=admin, lockup=lockup)


def _draw_dev_buy(random: Random, sender: str) -> DevBuy:
    amount_eth = random.choice((1, 5, 10, 50, 100)) * 10**16
    return DevBuy(amount=amount_eth * random.randrange(9_000_000, 9_900_000), amount_eth=amount_eth, recipient=sender)


def _draw_positions(random: Random, presets: tuple[Preset, ...], pool: Pool) -> tuple[Position, ...]:
    """Return a preset moved to the pool's tick; in 1 % of launches, custom positions."""
    tick = pool.tick or 0
    if random.random() < 0.01:
        edges = sorted(random.sample(range(tick, tick + 100_000, 200), 3))
        return tuple(
            Position(tick_lower=lower, tick_upper=upper, bps=5_000) for lower, upper in itertools.pairwise(edges)
        )
    preset = presets[_rank(random, len(presets), 2)]
    shift = tick - preset.starting_tick
    return tuple(
        Position(tick_lower=position.tick_lower + shift, tick_upper=position.tick_upper + shift, bps=position.bps)
        for position in preset.positions
    )
