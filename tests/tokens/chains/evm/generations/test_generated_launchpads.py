"""Generated declarations and logs: what a declared launchpad's launches are decoded to, by eth_abi and the declaration.

Neither the product's ABI files nor its decoders make the logs or the expected values.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from eth_utils.address import to_checksum_address
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.nodes.contract_events import V3_INITIALIZE, V3_POOL_CREATED, V4_INITIALIZE
from tests.nodes.launch_builder import (
    BLOCK_HASH,
    BLOCK_TIME,
    SENDER,
    STRANGER,
    TX_HASH,
    USDC,
    V3_FACTORY,
    WETH,
    ZERO,
    event,
    transaction,
)
from tests.tokens.chains.abi.test_abi_layouts import WORDS, plain, valid
from tests.tokens.chains.evm.generations.generated_events import GeneratedEvent, events
from tokens.chains.errors import LaunchNotFoundError, LogDecodingError
from tokens.chains.evm.generations.launch_views import missing_values
from tokens.chains.evm.logs.log_decoding import decode_logs, launch_topics, own_topics
from tokens.chains.registry.chains import load_registry

CHAIN = 8453
FACTORY, REPORTER = (to_checksum_address(digits * 20) for digits in ("fa", "1e"))
POOL_MANAGER = "0x498581fF718922c3f8e6A244956aF099B2652b2b"
TEXTS = ("name", "symbol", "uri")
# Launch field -> its argument's type.
ROLES = {"token": "address", "name": "string", "symbol": "string", "uri": "string", "creator": "address"}
POOL_IDS = {"v4": "bytes32", "v3": "address"}
# Quote -> its symbol and decimals, where a launch needs no call for them.
QUOTES = {ZERO: ("ETH", 18), WETH: ("WETH", 18), USDC: ("USDC", 6)}
DYNAMIC_FEE = 0x800000

kinds = st.sampled_from(list(POOL_IDS))
static_fees = st.integers(0, 10**6)


def words(size: int, last: int):
    """Return a strategy for bytes that no other strategy with another last byte returns."""
    return st.binary(min_size=size - 1, max_size=size - 1).map(lambda raw: raw + bytes([last]))


def accounts(last: int):
    """Return a strategy for addresses that no other strategy with another last byte returns."""
    return words(20, last).map(to_checksum_address)


# Last bytes for launched tokens and their pools, to which the launch's number is added, and for others.
TOKEN, POOL, QUOTE, OTHER, OTHER_POOL, HOOK = range(0x40, 0xA0, 0x10)
quotes = st.sampled_from(list(QUOTES)) | accounts(QUOTE)


@pytest.fixture
def load(tmp_path: Path):
    """Return a function that loads the chain with the launchpad from these launch tables."""

    def loaded(*launches: dict[str, Any], pool: str):
        text = f'[launchpads.x]\npool = "{pool}"\n'
        for launch in launches:
            contracts = f'contracts = {{ {CHAIN} = ["{FACTORY}"] }}\n'
            text += f"[[launchpads.x.launch]]\n{contracts}" + "".join(
                f"{key} = {_toml(value)}\n" for key, value in launch.items()
            )
        (tmp_path / "own.toml").write_text(text)
        return load_registry(tmp_path / "own.toml", launchpads={CHAIN: ("x",)}).chain(CHAIN)

    return loaded


def _toml(value):
    """Return a TOML file's value; JSON's texts, numbers and truths are TOML's, too."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(each)}" for key, each in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value, ensure_ascii=False)


def declare(made: GeneratedEvent, **more):
    """Return the launch table for an event whose roles are launch fields."""
    return {"event": made.declaration} | dict(made.paths) | more


@st.composite
def launched(draw, made: GeneratedEvent, kind: str, *, number: int = 0):
    """Draw a launch's log, and the logs with which the chain's own contracts make its pool."""
    token, quote = draw(accounts(TOKEN + number)), draw(quotes)
    pool = draw(words(32, POOL + number) if kind == "v4" else accounts(POOL + number))
    log = made.log(draw, FACTORY, {"token": token, "pool_id": pool})
    tick, spacing, fee = draw(st.integers(-887_272, 887_272)), draw(st.integers(1, 200)), draw(static_fees)
    if kind == "v4":
        fee, hook = draw(st.just(DYNAMIC_FEE) | static_fees), draw(st.just(ZERO) | accounts(HOOK))
        return log, [initialize(pool, token, quote, fee=fee, tick=tick, spacing=spacing, hook=hook)]
    return log, [
        pool_created(token, quote, fee=fee, spacing=spacing, pool=pool),
        event(pool, V3_INITIALIZE, 2**96, tick),
    ]


def initialize(pool_id, token, quote, *, fee=100, tick=7, spacing=60, hook=ZERO, by=POOL_MANAGER):
    """Return the log with which a PoolManager makes a pool."""
    low, high = sorted((token, quote), key=str.lower)
    return event(by, V4_INITIALIZE, pool_id, low, high, fee, spacing, hook, 2**96, tick)


def pool_created(token, quote, *, pool, fee=100, spacing=60, by=V3_FACTORY):
    """Return the log with which a v3 factory makes a pool."""
    low, high = sorted((token, quote), key=str.lower)
    return event(by, V3_POOL_CREATED, low, high, fee, spacing, pool)


@st.composite
def decoys(draw, log, *, token: str, has_id: bool):
    """Draw meaningless logs in the launch's transaction: strangers', and other pools'."""
    quote, other = draw(quotes), draw(accounts(OTHER))
    pool, v3_pool = draw(words(32, OTHER_POOL)), draw(accounts(OTHER_POOL))
    found = [
        log | {"address": STRANGER},
        initialize(pool, token, quote, by=STRANGER),
        initialize(pool, other, STRANGER),
        pool_created(token, quote, pool=v3_pool, by=STRANGER),
        pool_created(other, STRANGER, pool=v3_pool),
        event(v3_pool, V3_INITIALIZE, 2**96, 5),
        event(STRANGER, "Made(uint256)", 1),
        event(FACTORY, "Made(uint256)", 1),
        {"address": FACTORY.lower(), "topics": [], "data": "0x"},
        {"address": POOL_MANAGER.lower(), "topics": [], "data": log["data"]},
    ]
    if has_id:
        found += [initialize(pool, token, quote), pool_created(token, quote, pool=v3_pool)]
    return draw(st.lists(st.sampled_from(found), max_size=6))


def merge(draw, *runs):
    """Draw a log sequence that keeps each run's own."""
    left = [list(run) for run in runs if run]
    logs = []
    while left:
        run = draw(st.sampled_from(left))
        logs.append(run.pop(0))
        left = [each for each in left if each]
    return logs


def row(launch):
    """Return what is stored for a launch without any call."""
    pool = launch.pool and {
        "address": launch.pool.address,
        "quote": launch.pool.paired_token,
        "pair": (launch.pool.pair_symbol, launch.pool.pair_decimals),
        "tick": launch.pool.tick,
        "spacing": launch.pool.tick_spacing,
        "hook": launch.pool.hook,
        "fee": launch.fees and (launch.fees.type, launch.fees.clanker_fee, launch.fees.paired_fee),
    }
    return {
        "at": (launch.tx_hash, launch.log_index, launch.block_number, launch.block_hash, launch.block_time),
        "by": (launch.chain_id, launch.generation, launch.factory),
        **{"token": launch.token, "name": launch.name, "symbol": launch.symbol, "uri": launch.uri},
        "creator": launch.admin,
        "pool": pool,
        "called": {value.field for value in missing_values(launch)},
    }


def expected(values, place, pool):
    """Return a launch's row with these values in its log, and this pool."""
    texts = {name: values.get(name) or ("" if name != "uri" else None) for name in TEXTS}
    called = {"supply", "decimals", *(name for name in ("name", "symbol") if not texts[name])}
    if pool and pool["pair"] == (None, None):
        called |= {"pair_symbol", "pair_decimals"}
    creator = values.get("creator")
    return {
        "at": (TX_HASH, place, 100, BLOCK_HASH, BLOCK_TIME),
        "by": (CHAIN, "x", FACTORY),
        **{"token": values["token"], **texts},
        "creator": None if creator == ZERO else creator,
        "pool": pool,
        "called": called,
    }


def words_of(log):
    """Return a log's indexed words and its data's words."""
    data = log["data"][2:]
    return [topic[2:] for topic in log["topics"][1:]], [data[at : at + 64] for at in range(0, len(data), 64)]


def signed(word, bits=256):
    value = int(word, 16) % 2**bits
    return value - 2**bits if value >= 2 ** (bits - 1) else value


def made_pool(logs, kind, values):
    """Return the only pool with the token and the id, from the words that the chain's own contracts emitted."""
    found = []
    for log in logs:
        indexed, data = words_of(log)
        by = log["address"]
        if kind == "v4" and by == POOL_MANAGER.lower() and len(indexed) == 3:
            fee, spacing, hook, _, tick = data
            sides = [to_checksum_address(word[24:]) for word in indexed[1:]]
            hook = None if not int(hook, 16) else to_checksum_address(hook[24:])
            made = ("0x" + indexed[0], sides, int(fee, 16), int(spacing, 16), hook, signed(tick))
        elif kind == "v3" and by == V3_FACTORY.lower() and len(indexed) == 3:
            pool = to_checksum_address(data[1][24:])
            starts = [each for each in logs if each["address"] == pool.lower() and len(each["topics"]) == 1]
            tick = signed(words_of(starts[0])[1][1]) if starts else None
            sides = [to_checksum_address(word[24:]) for word in indexed[:2]]
            made = (pool, sides, int(indexed[2], 16), int(data[0], 16), None, tick)
        else:
            continue
        if values["token"] in made[1] and values.get("pool_id", made[0]) == made[0]:
            found.append(made)
    if len(found) != 1:
        return None
    address, sides, fee, spacing, hook, tick = found[0]
    is_first = values["token"] == sides[0]
    quote = sides[is_first]
    return {
        "address": address,
        "quote": quote,
        "pair": QUOTES.get(quote, (None, None)),
        "tick": tick if is_first else -tick,
        "spacing": spacing,
        "hook": hook,
        "fee": None if fee == DYNAMIC_FEE else ("static", fee / 100, fee / 100),
    }


def roles(kind, data):
    """Draw a launch event's roles: the token, and any others."""
    chosen = data.draw(st.sets(st.sampled_from([role for role in ROLES if role != "token"])))
    has_id = data.draw(st.booleans())
    return {role: ROLES[role] for role in ROLES if role in {"token", *chosen}} | (
        {"pool_id": POOL_IDS[kind]} if has_id else {}
    )


def filtered(chain, logs):
    """Return the logs that nodes return for the filters."""
    asked = [(launch_topics(chain), chain.emitters | chain.pools_of_launches), (own_topics(chain), None)]
    return [
        log
        for log in logs
        for topics, emitters in asked
        if log["topics"] and log["topics"][0] in topics and (emitters is None or log["address"] in emitters)
    ]


def assert_filters_lack_nothing(chain, mined, facts):
    """Assert that the filtered logs show the same launches, or that the transaction is to be read in full."""
    decoded = decode_logs(chain, filtered(chain, mined.logs), times={BLOCK_HASH: BLOCK_TIME})
    if not decoded.incomplete:
        assert decoded.transactions == (facts,)
    return not decoded.incomplete


@settings(max_examples=60)
@given(data=st.data(), kind=kinds)
def test_a_launch_has_the_values_that_its_contracts_emitted(load, data, kind):
    made = data.draw(events(roles(kind, data)))
    chain = load(declare(made), pool=kind)
    log, pools = data.draw(launched(made, kind))
    values = made.decode(log)
    noise = data.draw(decoys(log, token=values["token"], has_id="pool_id" in values))
    logs = merge(data.draw, [log], pools, noise)
    mined = transaction(*logs, to=STRANGER)
    facts = mined.read(chain)
    (launch,) = facts.launches
    pool = made_pool(logs, kind, values)
    assert pool is not None
    assert row(launch) == expected(values, logs.index(log), pool)
    assert assert_filters_lack_nothing(chain, mined, facts) == (kind == "v4")
    # A node that leaves logs out shows no launch without its pool.
    left_out = [each for each in filtered(chain, mined.logs) if each["address"] != POOL_MANAGER.lower()]
    decoded = decode_logs(chain, left_out, times={BLOCK_HASH: BLOCK_TIME})
    assert (decoded.transactions, decoded.incomplete) == ((), (TX_HASH,))


@settings(max_examples=120)
@given(data=st.data(), kind=kinds)
def test_a_damaged_log_is_refused_or_has_the_values_that_eth_abi_finds(load, data, kind):
    made = data.draw(events(roles(kind, data)))
    chain = load(declare(made), pool=kind)
    log, pools = data.draw(launched(made, kind))
    broken = data.draw(damaged(log))
    logs = [*pools, broken]
    values = made.decode(broken)
    try:
        (launch,) = transaction(*logs, to=STRANGER).decode(chain)
    except LogDecodingError:
        assert values is None or values["token"] is None
        return
    assert values is not None
    pool = made_pool(pools, kind, values)
    assert row(launch) == expected(values, len(pools), pool)


@st.composite
def damaged(draw, log):
    """Draw a log with other words, cut or longer data, or more or fewer topics."""
    topics, data = list(log["topics"]), bytearray.fromhex(log["data"][2:])
    for _ in range(draw(st.integers(1, 2))):
        word = 32 * draw(st.integers(0, max(len(data) // 32 - 1, 0)))
        match draw(st.sampled_from(["word", "word", "word", "cut", "drop", "tail", "topic", "fewer", "more"])):
            case "word":
                data[word : word + 32] = draw(WORDS).to_bytes(32, "big")
            case "cut":
                del data[draw(st.integers(0, len(data))) :]
            case "drop":
                del data[word : word + 32]
            case "tail":
                data += draw(st.binary(max_size=70))
            case "topic" if len(topics) > 1:
                topics[draw(st.integers(1, len(topics) - 1))] = f"0x{draw(WORDS):064x}"
            case "fewer" if len(topics) > 1:
                topics.pop()
            case "more":
                topics.append(f"0x{draw(WORDS):064x}")
    return log | {"topics": topics, "data": "0x" + data.hex()}


@settings(max_examples=40)
@given(data=st.data(), kind=kinds, count=st.integers(2, 4))
def test_each_launch_of_a_transaction_has_its_own_pool(load, data, kind, count):
    made = data.draw(events(roles(kind, data)))
    chain = load(declare(made), pool=kind)
    each = [data.draw(launched(made, kind, number=number)) for number in range(count)]
    logs = merge(data.draw, *([log] for log, _ in each), *(pools for _, pools in each))
    facts = transaction(*logs, to=STRANGER).read(chain)
    by_place = sorted((logs.index(log), made.decode(log)) for log, _ in each)
    assert [row(launch) for launch in facts.launches] == [
        expected(values, place, made_pool(logs, kind, values)) for place, values in by_place
    ]


@settings(max_examples=40)
@given(data=st.data(), kind=kinds)
def test_of_several_layouts_the_first_counts_whose_condition_holds(load, data, kind):
    leaf = data.draw(st.sampled_from(["address", "uint24", "int64", "uint256", "bool", "bytes4", "bytes32", "string"]))
    made = data.draw(events({"token": "address", "a": "string", "b": "string", "kind": leaf}))
    values = st.lists(valid({"type": leaf}), min_size=1, max_size=3, unique=True)
    # A text in a file is no broken one.
    text = st.text(st.characters(codec="utf-8", exclude_characters="\0\x7f"), max_size=8)
    texts = st.lists(text, min_size=1, max_size=3)
    one, other = (data.draw(texts.map(encoded) if leaf == "string" else values) for _ in range(2))
    value = data.draw(st.sampled_from([*one, *other]) | valid({"type": leaf}))
    paths = made.paths
    chain = load(
        *(
            {
                "event": made.declaration,
                "token": paths["token"],
                "name": paths[name],
                "when": [{"value": paths["kind"], "is": [data.draw(spellings(leaf, each)) for each in listed]}],
            }
            for name, listed in (("a", one), ("b", other))
        ),
        pool=kind,
    )
    log = made.log(data.draw, FACTORY, {"token": bytes([7] * 20), "kind": value, "a": b"first", "b": b"second"})
    found = plain({"type": leaf}, value)
    mined = transaction(log, to=STRANGER)
    names = [
        name
        for name, listed in (("first", one), ("second", other))
        if found in [plain({"type": leaf}, each) for each in listed]
    ]
    assert [launch.name for launch in mined.decode(chain)] == names[:1]


def encoded(texts):
    return [text.encode() for text in texts]


def spellings(leaf, value):
    """Return a strategy for what a file may have for a value of this type."""
    written = plain({"type": leaf}, value)
    if leaf == "address":
        return st.sampled_from([written, written.lower()])
    if leaf.startswith("bytes"):
        return st.sampled_from([written, "0x" + written[2:].upper()])
    return st.just(written)


@settings(max_examples=40)
@given(data=st.data(), kind=kinds)
def test_the_first_usable_value_counts(load, data, kind):
    made = data.draw(
        events({"token": "address", "a": "address", "b": "address", "n1": "string", "n2": "string", "n3": "string"})
    )
    paths = made.paths
    with_sender = data.draw(st.booleans())
    creator = [paths["a"], paths["b"], *([{"tx": "from"}] if with_sender else [])]
    chain = load(
        {
            "event": made.declaration,
            "token": paths["token"],
            "creator": creator,
            "name": [paths["n1"], paths["n2"], paths["n3"]],
        },
        pool=kind,
    )
    accounts = st.sampled_from([bytes(20)]) | st.binary(min_size=20, max_size=20)
    texts = st.sampled_from([b"", b"\0", b"a", b"\xff"])
    given_values = {role: data.draw(accounts) for role in ("a", "b")} | {
        role: data.draw(texts) for role in ("n1", "n2", "n3")
    }
    log = made.log(data.draw, FACTORY, {"token": b"\7" * 20} | given_values)
    (launch,) = transaction(log, to=STRANGER).decode(chain)
    usable = [to_checksum_address(given_values[role]) for role in ("a", "b") if any(given_values[role])]
    assert launch.admin == [*usable, *([SENDER] if with_sender else []), None][0]
    names = [plain({"type": "string"}, given_values[role]) for role in ("n1", "n2", "n3")]
    assert launch.name == next(filter(None, names), "")
    assert ("name" in {value.field for value in missing_values(launch)}) == (not any(names))


@settings(max_examples=50)
@given(data=st.data(), kind=kinds, is_argument=st.booleans())
def test_another_log_counts_only_by_its_emitter_and_for_its_token(load, data, kind, is_argument):
    made = data.draw(events({"token": "address", "reporter": "address"}))
    joined = data.draw(events({"token": "address", "name": "string", "creator": "address"}))
    if made.name == joined.name and made.topic0 == joined.topic0:
        return
    by = made.paths["reporter"] if is_argument else REPORTER
    join = {"log": joined.declaration, "by": by, "having": joined.paths["token"]}
    chain = load(
        {
            "event": made.declaration,
            "token": made.paths["token"],
            "name": join | {"result": joined.paths["name"]},
            "creator": join | {"result": joined.paths["creator"]},
        },
        pool=kind,
    )
    token, other = bytes([7] * 20), bytes([8] * 20)
    named = data.draw(accounts(OTHER))
    log = made.log(data.draw, FACTORY, {"token": token, "reporter": bytes.fromhex(named[2:])})
    emitter = named if is_argument else REPORTER
    strangers = [STRANGER, REPORTER if is_argument else named]
    reports = [
        joined.log(data.draw, address, {"token": about})
        for address, about in data.draw(
            st.lists(st.tuples(st.sampled_from([emitter, emitter, *strangers]), st.sampled_from([token, other])))
        )
    ]
    logs = merge(data.draw, [log], reports)
    mined = transaction(*logs, to=STRANGER)
    facts = mined.read(chain)
    (launch,) = facts.launches
    counted = [
        joined.decode(each)
        for each in logs
        if each is not log and each["address"] == emitter.lower() and joined.decode(each)["token"] == launch.token
    ]
    last = counted[-1] if counted else {"name": "", "creator": ZERO}
    assert launch.name == last["name"]
    assert launch.admin == (None if last["creator"] == ZERO else last["creator"])
    assert_filters_lack_nothing(chain, mined, facts)


@settings(max_examples=20)
@given(data=st.data(), kind=kinds, count=st.integers(2, 3))
def test_of_several_pools_only_an_id_tells_the_launchs_own(load, data, kind, count):
    """Anyone can make a token's pool before its launch."""
    made = data.draw(events({"token": "address", "pool_id": POOL_IDS[kind]}))
    chains = [load(declare(made, **{"pool_id": made.paths["pool_id"]}), pool=kind)]
    chains.append(load({"event": made.declaration, "token": made.paths["token"]}, pool=kind))
    log, pools = data.draw(launched(made, kind))
    values = made.decode(log)
    more = [
        initialize(data.draw(words(32, OTHER_POOL)), values["token"], data.draw(quotes))
        if kind == "v4"
        else pool_created(values["token"], data.draw(quotes), pool=data.draw(accounts(OTHER_POOL)))
        for _ in range(count - 1)
    ]
    logs = merge(data.draw, [log], pools, more)
    by_id, by_token = (transaction(*logs, to=STRANGER).decode(chain)[0] for chain in chains)
    assert by_id.pool.address == values["pool_id"]
    assert by_token.pool is None


def test_a_log_of_another_layout_with_the_same_topic_is_no_launch_of_this_one(load):
    """With one topic0 each log has its own contract's indexed arguments."""
    layouts = ("Made(address indexed token, address creator)", "Made(address creator, address indexed token)")
    launches = [{"event": layout, "token": "token", "creator": "creator"} for layout in layouts]
    third = {"event": "Made(address indexed token, address indexed creator)", "token": "token", "creator": "creator"}
    layouts_of_logs = ("Made(address,address)", layouts[0], third["event"])
    logs = [event(FACTORY, layout, WETH, USDC) for layout in layouts_of_logs]
    both = load(launches[0], third, pool="v4")
    for log in logs[1:]:
        (launch,) = transaction(log, to=None).decode(both)
        assert (launch.token, launch.admin) == (WETH, USDC)
    with pytest.raises(LogDecodingError):
        transaction(logs[0], to=None).decode(both)
    # Nothing distinguishes these two: the first one counts.
    (launch,) = transaction(logs[1], to=None).decode(load(*launches, pool="v4"))
    assert (launch.token, launch.admin) == (WETH, USDC)


def test_strangers_and_other_pools_make_no_launch(load):
    chain = load({"event": "Made(address token)", "token": "token"}, pool="v4")
    log = event(STRANGER, "Made(address)", WETH)
    with pytest.raises(LaunchNotFoundError):
        transaction(log, initialize(b"\1" * 32, WETH, USDC), to=FACTORY).decode(chain)
