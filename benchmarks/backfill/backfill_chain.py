"""The chain that backfills are measured on: invented v4 launches on Base, deterministic for each size.

Every launch is a recorded one (`tests/nodes/recordings.py`: a plain one, and one with a vault) with another token,
admin, pool, position and other texts instead of the recorded ones, so that its logs equal real contracts' logs:
17 or more, with some 1 kB of data in TokenCreated. One in a hundred tokens changes its metadata later on.

Hashes are no digests: each begins with the block's number, so that the node finds requested
records without an index.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from random import Random
from typing import Any

import eth_abi
import orjson

from development.sample_data.token_names import draw_name
from tests.nodes.contract_events import TRANSFER, UPDATE_METADATA, V4_REWARD_ADDED
from tests.nodes.launch_builder import FACTORY_V4, ZERO
from tests.nodes.log_encoding import LogEntry, emit, encode_values, topic
from tests.nodes.recordings import mined
from tests.simulator.chain import Block, bloom
from tests.simulator.transactions import Transaction

CHAIN_ID = 8453
BLOCK_SECONDS = 2
# Block 0 in Unix seconds: 1 January 2025.
FIRST_TIME = 1_735_689_600
# Besides ours every block has so many transfers in other tokens.
FOREIGN = 6

_SEED = "backfill"
_WALLETS = 20_000
_WITH_VAULT = 0.15
# A metadata change comes so many blocks after its launch, after one launch in so many.
_CHANGE_AFTER, _CHANGE_EVERY = 1_000, 100
_INTERFACES = ("clanker.world", "Bankr", "SDK", "Launchpad UI")
_TRANSFERS, _TRANSFER_TOKENS, _TRANSFER_WALLETS = 5_000, 200, 2_000
# TokenCreated's values that are not indexed: account, texts, tick, hook, pool, addresses, supply, extensions.
_CREATED = ("address", *["string"] * 5, "int24", "address", "bytes32", *["address"] * 3, "uint256", "address[]")
_POOL = 8
# The LP NFT in the reward's data, as its characters.
_POSITION = slice(2 + 7 * 64, 2 + 8 * 64)
_REWARD = topic(V4_REWARD_ADDED)


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """A transaction that concerns the launchpad, by its logs' shapes and the values in their places.

    Places are `%(token)s`, `%(admin)s`, `%(pool)s`, `%(position)064x` and `%(created)s`.
    """

    block: int
    # Its index in its block.
    index: int
    shapes: Sequence[LogEntry]
    values: Mapping[str, Any]
    # A launch's expected values: address, name, symbol, admin, pool; empty for other transactions.
    launch: tuple[str, ...] = ()

    def mined(self) -> Transaction:
        logs = tuple(
            LogEntry(
                shape.address % self.values,
                tuple(word % self.values for word in shape.topics),
                shape.data % self.values,
            )
            for shape in self.shapes
        )
        to = FACTORY_V4 if self.launch else logs[0].address
        return make_transaction(self.block, self.index, f"0x{self.values['admin']}", to, logs)

    @property
    def tx_hash(self) -> str:
        return transaction_hash(self.block, self.index)


def block_hash(number: int) -> str:
    """Return a block's hash, which begins with its number."""
    return f"0x{number:08x}{_block_digest(number)[8:]}"


def transaction_hash(number: int, index: int) -> str:
    """Return a transaction's hash, which begins with its block's number and its index there."""
    return f"0x{number:08x}{index:04x}{_block_digest(number)[12:]}"


@lru_cache(maxsize=4096)
def _block_digest(number: int) -> str:
    return hashlib.sha256(b"block %d" % number).hexdigest()


@lru_cache(maxsize=30_000)
def wallet(number: int) -> str:
    """Return a wallet's address in lower-case hex, without its 0x."""
    return hashlib.sha256(b"wallet %d" % number).hexdigest()[:40]


def make_block(number: int, transactions: Sequence[Transaction], *, time: int, logs_bloom: int) -> Block:
    """Return a block; `time` is in Unix seconds. Nobody checks its receipt root."""
    return Block(
        number=number,
        hash=block_hash(number),
        parent_hash=block_hash(number - 1) if number else "0x" + "00" * 32,
        time=time,
        transactions=tuple(transactions),
        logs_bloom=logs_bloom,
        receipts_root=block_hash(number),
    )


def make_transaction(
    number: int, index: int, sender: str = ZERO, to: str = ZERO, logs: tuple[LogEntry, ...] = ()
) -> Transaction:
    """Return a successful transaction in a block."""
    tx_hash = transaction_hash(number, index)
    return Transaction(hash=tx_hash, sender=sender, to=to, value=0, calldata=None, succeeded=True, logs=logs)


@dataclass(frozen=True)
class Chain:
    """A chain with so many launches over so many blocks, from block 0 on; later blocks hold no launchpad logs."""

    launches: int
    blocks: int

    @cached_property
    def actions(self) -> list[Action]:
        """Launches and metadata changes, in the chain's order."""
        random = Random(_SEED)
        places = sorted(random.randrange(self.blocks) for _ in range(self.launches))
        drafts = [(block, *_draw_launch(random, number)) for number, block in enumerate(places)]
        for block, _, values, _ in drafts[::_CHANGE_EVERY]:
            if block + _CHANGE_AFTER < self.blocks:
                drafts.append((block + _CHANGE_AFTER, _METADATA_CHANGE, values, ()))
        drafts.sort(key=lambda draft: draft[0])
        actions: list[Action] = []
        for block, shapes, values, launch in drafts:
            last = actions[-1] if actions and actions[-1].block == block else None
            index = last.index + 1 if last else 0
            actions.append(Action(block=block, index=index, shapes=shapes, values=values, launch=launch))
        return actions

    @property
    def changes(self) -> int:
        """Return the event count after launch."""
        return len(self.actions) - self.launches

    def block(self, number: int) -> Block:
        """Return a block: its launchpad transactions, and then transfers in other tokens."""
        start, end = (bisect_left(self.actions, at, key=lambda action: action.block) for at in (number, number + 1))
        transactions = [action.mined() for action in self.actions[start:end]]
        # Any numbers do that are deterministic and differ between blocks.
        for place in range(FOREIGN):
            drawn = (number * 7_919 + place * 104_729) % _TRANSFERS
            log = _transfer(drawn)
            sender = f"0x{wallet(drawn % _TRANSFER_WALLETS)}"
            transactions.append(make_transaction(number, len(transactions), sender, log.address, (log,)))
        logs_bloom = bloom(log for entry in transactions for log in entry.logs)
        return make_block(number, transactions, time=FIRST_TIME + BLOCK_SECONDS * number, logs_bloom=logs_bloom)

    def digest(self) -> str:
        """Return the hex SHA-256 over all launches' expected lines, sorted by address."""
        launches = (action for action in self.actions if action.launch)
        lines = sorted("|".join((*action.launch, action.tx_hash, str(action.block))) for action in launches)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@cache
def _transfer(drawn: int) -> LogEntry:
    sender, recipient = wallet(drawn % _TRANSFER_WALLETS), wallet(drawn // 3 % _TRANSFER_WALLETS)
    token = f"0xf0{drawn % _TRANSFER_TOKENS:038x}"
    return emit(token, TRANSFER, f"0x{sender}", f"0x{recipient}", drawn)


def _draw_launch(random: Random, number: int) -> tuple[Sequence[LogEntry], dict[str, Any], tuple[str, ...]]:
    """Return a launch's log shapes and values, and the values that clients should store."""
    recorded = _VAULT if random.random() < _WITH_VAULT else _PLAIN
    name, symbol = draw_name(random)
    admin = wallet(random.randrange(_WALLETS))
    digest = hashlib.sha256(b"token %d" % number).hexdigest()
    # As in both recordings, the token's address is above the paired one's, so that it is the pool's second currency.
    token = "5" + digest[1:40]
    pool = hashlib.sha256(b"pool %d" % number).hexdigest()
    fid = random.randrange(1, 900_000)
    links = [{"platform": "x", "url": f"https://x.com/{symbol.lower()[:20]}"}]
    metadata = orjson.dumps({"description": f"{name}, launched for a trial", "socialMediaUrls": links, "auditUrls": []})
    context = orjson.dumps(
        {
            "interface": random.choice(_INTERFACES),
            "platform": "farcaster",
            "messageId": f"0x{digest[:40]}",
            "id": str(fid),
        }
    )
    texts = (f"ipfs://bafkrei{digest[:52]}".encode(), name.encode(), symbol.encode(), metadata, context)
    values: dict[str, Any] = {"token": token, "admin": admin, "pool": pool, "position": number + 1}
    created = (f"0x{admin}", *texts, *recorded.created[6:_POOL], bytes.fromhex(pool), *recorded.created[_POOL + 1 :])
    values["created"] = encode_values(_CREATED, created).hex()
    return recorded.shapes, values, (f"0x{token}", name, symbol, f"0x{admin}", f"0x{pool}")


@dataclass(frozen=True, kw_only=True)
class _Recorded:
    """A recorded launch with placeholders, and TokenCreated's recorded values that are not indexed."""

    shapes: tuple[LogEntry, ...]
    created: tuple[Any, ...]


def _read(label: str) -> _Recorded:
    *logs, log = mined(label).logs
    created = eth_abi.decode(_CREATED, bytes.fromhex(log["data"][2:]))
    places = {log["topics"][1][26:]: "%(token)s", log["topics"][2][26:]: "%(admin)s"}
    places[created[_POOL].hex()] = "%(pool)s"
    # The layout that is written here is the contract's.
    assert "0x" + encode_values(_CREATED, created).hex() == log["data"]
    shapes = (*(_shape(log, places) for log in logs), _shape(log | {"data": "0x%(created)s"}, places))
    return _Recorded(shapes=shapes, created=created)


def _shape(log: Mapping[str, Any], places: Mapping[str, str]) -> LogEntry:
    topics, data = list(log["topics"]), log["data"]
    if topics[0] == _REWARD:
        data = f"{data[: _POSITION.start]}%(position)064x{data[_POSITION.stop :]}"
    if topics[0] == topic(TRANSFER) and len(topics) == 4:
        topics[3] = "0x%(position)064x"

    def put(text: str) -> str:
        for value, place in places.items():
            text = text.replace(value, place)
        return text

    return LogEntry(put(log["address"].lower()), tuple(map(put, topics)), put(data))


_PLAIN, _VAULT = _read("deploy-plain"), _read("deploy-vault")
_NEW_METADATA = b'{"description":"A new description","socialMediaUrls":[],"auditUrls":[]}'
_METADATA_CHANGE = (emit("0x%(token)s", UPDATE_METADATA, _NEW_METADATA),)
