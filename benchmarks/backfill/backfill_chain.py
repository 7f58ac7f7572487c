"""The chain that backfills are measured on: invented v4 launches on Base, deterministic for each size.

Every launch is a recorded one (`tests/nodes/recordings.py`: a plain one, and one with a vault) with another token,
admin, pool, position and other texts instead of the recorded ones, so that its logs equal real contracts' logs:
17 or more, with some 1 kB of data in TokenCreated. One in a hundred tokens changes its metadata later on.

Hashes are no digests: each begins with the block's number, so that the node finds requested
records without an index.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from random import Random
from typing import Any

import orjson
from sha3 import keccak_256

from development.sample_data.token_names import draw_name
from tests.nodes.recordings import Mined, mined
from tokens.chains.abi import codec

CHAIN_ID = 8453
BLOCK_SECONDS = 2
# Block 0 in Unix seconds: 1 January 2025.
FIRST_TIME = 1_735_689_600

_SEED = "backfill"
_WALLETS = 20_000
_WITH_VAULT = 0.15
# A metadata change comes so many blocks after its launch, after one launch in so many.
_CHANGE_AFTER, _CHANGE_EVERY = 1_000, 100
_INTERFACES = ("clanker.world", "Bankr", "SDK", "Launchpad UI")
_CREATED = codec.load_abi("v4").event("TokenCreated").topic0
_REWARD = codec.load_abi("v4").event("TokenRewardAdded").topic0
_TRANSFER = codec.load_abi("token").event("Transfer").topic0
_UPDATE_METADATA = codec.load_abi("after_launch").event("UpdateMetadata").topic0
# Their words in the data: the reward's LP NFT; TokenCreated's tick to extensionsSupply.
_POSITION_WORD = 7
_CREATED_FIXED = slice(6, 13)


@dataclass(frozen=True, kw_only=True, slots=True)
class LogShape:
    """A log with places for what differs: `%(token)s`, `%(admin)s`, `%(pool)s`, `%(position)064x`, `%(created)s`.

    Address and topics are 0x-prefixed lower-case hex.
    """

    address: str
    topics: tuple[str, ...]
    data: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Action:
    """A transaction that concerns the launchpad, by the logs that it emits and the values in their places."""

    block: int
    # Its index in its block, and its first log's index.
    index: int
    first_log: int
    shapes: Sequence[LogShape]
    values: Mapping[str, Any]
    # A launch's expected values: address, name, symbol, admin, pool; empty for other transactions.
    launch: tuple[str, ...] = ()

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


def block_time(number: int) -> int:
    """Return the block's timestamp in Unix seconds."""
    return FIRST_TIME + BLOCK_SECONDS * number


@lru_cache(maxsize=200_000)
def bloom_bits(value: str) -> int:
    """Return the bits in a block's filter for an address or a topic (0x-prefixed hex).

    Source: the Yellow Paper, M3:2048.
    """
    digest = keccak_256(bytes.fromhex(value[2:])).digest()
    return sum({1 << (int.from_bytes(digest[place : place + 2], "big") & 2047) for place in (0, 2, 4)})


@dataclass(frozen=True)
class Chain:
    """A chain with so many launches over so many blocks, from block 0 on; later blocks hold no launchpad logs."""

    launches: int
    blocks: int

    @cached_property
    def actions(self) -> list[Action]:
        """Yield launches and metadata changes, in the chain's order."""
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
            first_log = last.first_log + len(last.shapes) if last else 0
            actions.append(
                Action(block=block, index=index, first_log=first_log, shapes=shapes, values=values, launch=launch)
            )
        return actions

    @property
    def changes(self) -> int:
        """Return the event count after launch."""
        return len(self.actions) - self.launches

    def digest(self) -> str:
        """Return the hex SHA-256 over all launches' expected lines, sorted by address."""
        launches = (action for action in self.actions if action.launch)
        lines = sorted("|".join((*action.launch, action.tx_hash, str(action.block))) for action in launches)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _draw_launch(random: Random, number: int) -> tuple[Sequence[LogShape], dict[str, Any], tuple[str, ...]]:
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
    values["created"] = _created_data(admin, pool, texts, recorded)
    return recorded.shapes, values, (f"0x{token}", name, symbol, f"0x{admin}", f"0x{pool}")


def word(value: int) -> str:
    """Return a number as 32 bytes in hex."""
    return f"{value:064x}"


def _text_words(text: bytes) -> str:
    padded = -(-len(text) // 32) * 64
    return word(len(text)) + text.hex().ljust(padded, "0")


def _created_data(admin: str, pool: str, texts: Sequence[bytes], recorded: "_Recorded") -> str:
    """Return TokenCreated's data, in hex: msgSender, five offsets, the recorded words, and an offset; the rest."""
    tails = [*map(_text_words, texts), recorded.extensions]
    offsets, end = [], 14 * 32
    for tail in tails:
        offsets.append(word(end))
        end += len(tail) // 2
    head = [f"{admin:0>64}", *offsets[:-1], recorded.created_fixed % {"pool": pool}, offsets[-1]]
    return "".join((*head, *tails))


@dataclass(frozen=True, kw_only=True)
class _Recorded:
    """A recorded launch with placeholders."""

    shapes: tuple[LogShape, ...]
    # TokenCreated's words 6 to 12, and its extension array.
    created_fixed: str
    extensions: str


def _read(transaction: Mined) -> _Recorded:
    (log,) = (log for log in transaction.logs if log["topics"][0] == _CREATED)
    words = _words(log["data"])
    places = {
        log["topics"][1][26:]: "%(token)s",
        log["topics"][2][26:]: "%(admin)s",
        words[8]: "%(pool)s",
    }
    extensions = words[int(words[13], 16) // 32 :]
    recorded = _Recorded(
        shapes=tuple(_shape(log, places) for log in transaction.logs),
        created_fixed=_put_places("".join(words[_CREATED_FIXED]), places),
        extensions="".join(extensions),
    )
    created = codec.load_abi("v4").event("TokenCreated").decode(log)
    texts = [created[f"token{part}"].encode() for part in ("Image", "Name", "Symbol", "Metadata", "Context")]
    # The layout that is written here is the contract's.
    assert _created_data(log["topics"][2][26:], words[8], texts, recorded) == log["data"][2:]
    return recorded


def _shape(log: Mapping[str, Any], places: Mapping[str, str]) -> LogShape:
    topics = [_put_places(topic, places) for topic in log["topics"]]
    words = _words(log["data"])
    if log["topics"][0] == _REWARD:
        words[_POSITION_WORD] = "%(position)064x"
    if log["topics"][0] == _TRANSFER and len(topics) == 4:
        topics[3] = "0x%(position)064x"
    data = "%(created)s" if log["topics"][0] == _CREATED else _put_places("".join(words), places)
    return LogShape(address=_put_places(log["address"].lower(), places), topics=tuple(topics), data=data)


def _put_places(text: str, places: Mapping[str, str]) -> str:
    for value, place in places.items():
        text = text.replace(value, place)
    return text


def _words(data: str) -> list[str]:
    return [data[start : start + 64] for start in range(2, len(data), 64)]


_PLAIN, _VAULT = _read(mined("deploy-plain")), _read(mined("deploy-vault"))
_NEW_METADATA = b'{"description":"A new description","socialMediaUrls":[],"auditUrls":[]}'
# event UpdateMetadata(string metadata), by the token itself.
_METADATA_CHANGE = (
    LogShape(address="0x%(token)s", topics=(_UPDATE_METADATA,), data=word(32) + _text_words(_NEW_METADATA)),
)
