"""Costs of declared launches at the head: sequential node requests, and statements, counted and not timed.

Each block has a recorded launch several times, each time with another token.
"""

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext

from tests.nodes.followed import Followed
from tests.nodes.launchpad_recordings import CHAIN, load_recording, name_of, write_registry
from tests.nodes.recordings import Mined
from tokens.models import Token

pytestmark = pytest.mark.django_db

DATA = Path("tests/data/launchpads")
# Keys of recorded values that no two launches share.
_IDS = ("token", "pool_id", "bonding_pair", "uniswap_pair")
REFERENCE_POOL = f"""
quote_tokens = [
    {{ symbol = "WETH", address = "0x{"ee" * 20}", decimals = 18 }},
    {{ symbol = "USDC", address = "0x{"cc" * 20}", decimals = 6 }},
]
reference_pools = [{{ pool = "0x{"11" * 32}", currency = "0x{"ee" * 20}", stable = "0x{"cc" * 20}" }}]
"""
# Each value keeps so many digits, so that a token sorts like the recorded one.
_KEPT = 10


def copy_launch(recording, number):
    """Return the launch and its views with another token, as the transaction with this index in the block."""
    launch, expected = recording["transactions"][0], recording["expected"]
    text = json.dumps([launch, recording["calls"]])
    own = [launch["transaction"]["hash"], *(expected[name] for name in _IDS if name in expected)]
    for digits in (value.removeprefix("0x") for value in own):
        text = re.sub(digits, digits[:_KEPT].lower() + f"{number:0{len(digits) - _KEPT}x}", text, flags=re.IGNORECASE)
    entry, views = json.loads(text)
    logs = entry["receipt"]["logs"]
    for place, log in enumerate(logs):
        log |= {"logIndex": hex(number * len(logs) + place), "transactionIndex": hex(number)}
    return Mined(entry["transaction"], entry["receipt"], entry["block"]), views


class Head:
    """Followed head before the block with the launches."""

    def __init__(self, recording, count, node):
        copies = [copy_launch(recording, number) for number in range(count)]
        (block, *_) = [mined.block for mined, _ in copies]
        self.node = node
        self.block = block | {"transactions": [mined.transaction["hash"] for mined, _ in copies]}
        self.node.views |= {(view["to"].lower(), view["data"]): view for _, views in copies for view in views}
        number = int(block["number"], 16)
        for later in [each for each in node.blocks if each >= number]:
            del node.blocks[later]
        # The newest final block, at which the head begins.
        before = node.blocks[number - 1]
        node.blocks[number - 2] = before | {"number": hex(number - 2), "hash": before["parentHash"]}
        self.followed = Followed(CHAIN)
        self.followed.catch_up()
        for mined, _ in copies:
            node.hold(replace(mined, block=self.block))

    def advance(self):
        """Follow the block; return each request's methods, and the statements."""
        newest = self.followed.newest()
        self.node.received.clear()
        with CaptureQueriesContext(connection) as statements:
            assert not self.followed.head.advance(newest)
        bodies = [body if isinstance(body, list) else [body] for body in self.node.received]
        requests = [[call["method"] for call in body] for body in bodies]
        return requests, [statement["sql"] for statement in statements]


@pytest.fixture
def head(recorded_node, settings, forget_chains, tmp_path):
    def begin(path, count):
        recording = load_recording(path)
        node = recorded_node(recording)
        # On a chain with reference pools, blocks are read with their transactions' senders.
        settings.CHAINS_FILES = (str(write_registry(recording, tmp_path, more=REFERENCE_POOL)),)
        settings.RPC_URLS, settings.LAUNCHPADS = {CHAIN: (node.url,)}, {CHAIN: (name_of(recording),)}
        forget_chains()
        return Head(recording, count, node)

    return begin


# Sequential node requests by launch: the block's logs; full transactions for launches whose logs other contracts
# emit; all views; quote tokens that have no symbol at the block; new pools' logs.
@pytest.mark.parametrize(
    ("name", "sequence"),
    [
        ("zora-creator_coin_1", 4),
        ("doppler-multicurve_1_weth", 4),
        ("doppler-v3_to_v2_1", 5),
        ("virtuals-launch_1_graduates", 5),
    ],
)
def test_launches_of_a_block_take_the_requests_and_statements_of_one(name, sequence, head):
    path = DATA / f"{name}.json"
    costs = {}
    for count in (1, 4):
        with transaction.atomic():
            requests, statements = head(path, count).advance()
            assert Token.objects.count() == count
            transaction.set_rollback(True)
        costs[count] = (len(requests), len(statements))
    assert costs[1] == costs[4]
    assert costs[1][0] == sequence


def test_views_that_launches_share_are_called_once(head):
    requests, _ = head(DATA / "zora-creator_coin_1.json", 4).advance()
    # Each token's supply and decimals; their quote token's symbol and decimals.
    assert requests[1] == ["eth_call"] * (2 * 4 + 2)
