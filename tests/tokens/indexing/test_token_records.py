"""Whole token records for recorded launches, from the node to the endpoints' JSON.

The golden records in `data/records` were checked by hand against another decoder's reading of the same transactions.
"""

import json

import pytest
from django.utils import timezone

from config.api.rendering import render_json
from tests.nodes.launch_builder import v1_launch, v3_launch
from tests.nodes.recorded_node import Node
from tests.nodes.recordings import DATA, RECORDED_LAUNCHES, base, decoded
from tokens.catalogue.records import read_records
from tokens.chains.evm.evm_chain import Chain
from tokens.chains.registry.chains import load_registry
from tokens.chains.rpc.client import RpcClient
from tokens.indexing.launch_rows import token_columns
from tokens.models import Token

pytestmark = pytest.mark.django_db

# Fields that the row has, and not the launch.
OWN_KEYS = ("id", "created_at", "last_indexed")


# v1 and v3.0 were not recorded: these are built from their events' published signatures.
BUILT = {"built-v1": v1_launch, "built-v3": v3_launch}


def read_record(node: Node, tx_hash: str):
    """Store a transaction's only launch, and return its record as the API renders it."""
    chain = Chain(info=base(), rpc=RpcClient(chain_id=8453, urls=(node.url,)))
    (launch,) = chain.read_transaction(tx_hash).launches
    columns = token_columns(launch, chain=base(), presets=load_registry().presets.values())
    Token.objects.create(**columns, last_indexed=timezone.now())
    record = json.loads(render_json(read_records(Token.objects.all())[0]))
    return {key: value for key, value in record.items() if key not in OWN_KEYS}


def golden(label):
    return json.loads((DATA / "records" / f"{label}.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("label", RECORDED_LAUNCHES)
def test_the_record_of_a_recorded_launch_is_the_golden_one(node, label):
    assert read_record(node, decoded(label)["hash"]) == golden(label)


@pytest.mark.parametrize("label", BUILT)
def test_the_record_of_a_built_launch_is_the_golden_one(node, label):
    assert read_record(node, node.hold(BUILT[label]())) == golden(label)
