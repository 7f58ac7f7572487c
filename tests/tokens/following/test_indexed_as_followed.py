"""An installation that indexes launches by their hashes, compared field by field with one that followed from the start.

Both read the same 41 launches by v0, v3.1 and v4, and all later changes: the first only by the tokens' state.
"""

import json
from collections import Counter

import pytest

from config.api.rendering import render_json
from tests.nodes.followed import Followed
from tests.nodes.following_chain import install
from tests.nodes.recordings import RECORDED_LAUNCHES, decoded, mined
from tests.rows.written_facts import forget_all, write_all
from tests.simulator import SimulatedChain, Traffic, serve
from tests.simulator.comparing import differences
from tokens.catalogue.records import read_records
from tokens.chains.evm.generations.event_decoding import EventKind
from tokens.indexing.index_requests import index_transaction
from tokens.installation.installed_chains import installed_chain
from tokens.models import CHANGE_KINDS, FollowedBlock, IndexRequest, Token, TokenEvent

pytestmark = pytest.mark.django_db

CHAIN = 8453
LAUNCHES = 41
# Changes that only declared launchpads have.
DECLARED_CHANGES = {EventKind.NAME_UPDATED, EventKind.SYMBOL_UPDATED, EventKind.URI_UPDATED, EventKind.POOL_CHANGED}
# What legitimately differs, in columns and records alike: the row's id, when it was written, and whether it is final,
# which indexing by hash finds out later; that is a reason for trust, too. Beside tokens, only the follower writes
# events and fee claims, and only indexing by hash writes index requests and states.
DIFFERING = {"id", "created_at", "last_indexed", "confirmed"}


def tokens():
    """Return address -> each listed token's columns and API record, without DIFFERING."""
    rows = Token.objects.listed().order_by("contract_address")
    columns = {row["contract_address"]: row for row in rows.values()}
    records = {record["contract_address"]: record for record in json.loads(render_json(read_records(rows)))}
    for record in records.values():
        record["trust"]["reasons"] = [reason for reason in record["trust"]["reasons"] if reason != "LAUNCH_FINAL"]
    return {
        address: {
            f"{kind}.{name}": value
            for kind, fields in (("column", columns[address]), ("record", records[address]))
            for name, value in fields.items()
            if name not in DIFFERING
        }
        for address in columns
    }


def unequal(indexed, followed):
    """Return (address, field) -> both values, for each field that differs."""
    assert indexed.keys() == followed.keys()
    return {
        (address, name): (indexed[address][name], value)
        for address, fields in followed.items()
        for name, value in fields.items()
        if indexed[address][name] != value
    }


def launched_and_changed():
    """Return a chain with the launches first, and then several changes to nearly all."""
    chain = SimulatedChain(6, traffic=Traffic(launches=1.0, events=0.0, legacy=0.3, several=0.1, reverted=0.0))
    while len(chain.truth().tokens) < LAUNCHES:
        chain.mine()
    chain.traffic = Traffic(launches=0.0, events=4.0)
    chain.mine(100)
    return chain


def test_launches_indexed_by_hash_equal_followed_ones(settings, forget_chains, tmp_path):
    chain = launched_and_changed()
    truth = chain.truth()
    assert len(truth.tokens) == LAUNCHES
    assert Counter(token.columns["generation"] for token in truth.tokens.values()).keys() == {"v0", "v3.1", "v4"}
    assert {event.happening.kind for event in truth.events} >= set(CHANGE_KINDS) - DECLARED_CHANGES
    with serve(chain) as node:
        # From before the first block on.
        node.pinned = chain.blocks[:1]
        install(chain, node.url, settings=settings, forget=forget_chains, directory=tmp_path)
        follower = Followed(CHAIN)
        follower.catch_up()
        node.pinned = None
        follower.catch_up()
        assert differences(truth, chain_id=CHAIN) == []
        followed = tokens()
        assert TokenEvent.objects.exists()

        forget_all()
        FollowedBlock.objects.all().delete()
        for tx_hash in dict.fromkeys(token.at.tx_hash for token in truth.tokens.values()):
            index_transaction(chain_id=CHAIN, tx_hash=tx_hash)
        assert IndexRequest.objects.exists()
    assert unequal(tokens(), followed) == {}


def test_launches_of_real_contracts_indexed_by_hash_equal_followed_ones(installed_node):
    chain = installed_chain(CHAIN)
    write_all(chain.read_range(0, chain.read_head()).transactions)
    followed = tokens()

    forget_all()
    for label in RECORDED_LAUNCHES:
        index_transaction(chain_id=CHAIN, tx_hash=decoded(label)["hash"])
    found = unequal(tokens(), followed)
    # The recording lacks two changes' transactions, so that a follower can't meet them.
    plain, shared = (mined(label).decode()[0].token for label in ("deploy-plain", "deploy-multi-recipients"))
    assert found.keys() == {
        *((plain, f"{kind}.{name}") for kind in ("column", "record") for name in ("metadata", "description")),
        (plain, "record.socialLinks"),
        *((shared, f"{kind}.extensions") for kind in ("column", "record")),
    }
    assert found[plain, "record.description"][0] == "new"
    new, old = (extensions["fees"]["recipients"] for extensions in found[shared, "record.extensions"])
    assert [share["admin"] != before["admin"] for share, before in zip(new, old, strict=True)] == [False, True, False]
