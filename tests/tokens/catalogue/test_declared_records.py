"""Declared launchpads' records: what a launchpad lacks is null, and warnings need premises about its contracts."""

import json
from pathlib import Path

import pytest
from django.utils import timezone

from config.api.rendering import render_json
from tests.nodes.recordings import DATA
from tests.tokens.chains.evm.generations.test_recorded_launchpads import reading, recorded_registry
from tokens.catalogue.records import read_records
from tokens.chains.evm.transactions.transaction_receipts import read_transaction
from tokens.chains.registry.chains import load_registry
from tokens.indexing.launch_rows import token_columns
from tokens.models import Token

pytestmark = pytest.mark.django_db

PRESETS = load_registry().presets.values()


@pytest.mark.parametrize(
    ("recording", "name", "title"),
    [
        # Paired with its creator's coin, which no list of usual quote tokens has.
        ("zora-content_coin_1_of_a_creator_coin", "zora", "Zora"),
        ("flaunch-launch_1_fair_launch", "flaunch", "Flaunch"),
        ("doppler-multicurve_1_weth", "doppler", "Doppler"),
        ("doppler-v3_to_v2_1", "doppler", "Doppler"),
        ("virtuals-launch_1_graduates", "virtuals", "Virtuals"),
    ],
)
def test_a_record_has_all_fields_and_null_for_what_the_launchpad_lacks(
    client, recorded_node, tmp_path, recording, name, title
):
    recorded = json.loads(Path(f"tests/data/launchpads/{recording}.json").read_text())
    chain = recorded_registry(recorded, tmp_path)
    launch = read_transaction(
        reading(chain, recorded_node(recorded)).rpc, chain, recorded["transactions"][0]["transaction"]["hash"]
    ).launches[0]
    Token.objects.create(**token_columns(launch, chain=chain, presets=PRESETS), last_indexed=timezone.now())
    (record,) = json.loads(render_json(read_records(Token.objects.all())))
    golden = json.loads((DATA / "records" / "legacy-v0-deploy.json").read_text())
    assert record.keys() - {"id", "created_at", "last_indexed"} == golden.keys()
    assert (record["type"], record["launchpad"], record["launchpadTitle"]) == (name, name, title)
    assert record["warnings"] == []
    assert {record[key] for key in ("locker_address", "position_id", "presale_id", "cast_hash")} == {None}
    assert record["deploy_config"] == dict.fromkeys(golden["deploy_config"])
    assert record["extensions"] | {"fees": None} == dict.fromkeys(golden["extensions"])
    fees = record["extensions"]["fees"]
    # Where the pool has its own fee, the recipients are unknown.
    assert fees is None or fees["recipients"] == []
    # Its creator's launches are listed, and have a ledger.
    creator = record["requestor_address"]
    assert creator and creator == record["admin"] and record["msg_sender"] is None
    launches = client.get("/api/tokens/fetch-deployed-by-address", {"address": creator}).json()["data"]
    assert [launch["id"] for launch in launches] == [record["id"]]
    assert record["pool_address"] and record["pool_config"]["pairedToken"] == launch.pool.paired_token


def test_a_launch_without_its_pool_is_warned_of(recorded_node, tmp_path):
    recorded = json.loads(Path("tests/data/launchpads/zora-creator_coin_1.json").read_text())
    receipt = recorded["transactions"][0]["receipt"]
    chain = recorded_registry(recorded, tmp_path)
    receipt["logs"] = [log for log in receipt["logs"] if log["address"].lower() != chain.v4_pool_manager.lower()]
    launch = read_transaction(reading(chain, recorded_node(recorded)).rpc, chain, receipt["transactionHash"]).launches[
        0
    ]
    assert token_columns(launch, chain=chain, presets=PRESETS)["launch_warnings"] == ["MISSING_POOL_CONFIG"]
