"""GET /api/get-claim-info."""

import pytest

from tests.nodes.launch_builder import LOCKER, LOCKER_V3, TOKEN, v1_launch, v3_launch
from tests.nodes.recordings import V4_LAUNCHES, mined
from tests.rows.factories import TokenFactory
from tests.rows.indexed_tokens import index_launch

pytestmark = pytest.mark.django_db

PATH = "/api/get-claim-info"
ADDRESS = "0x5FbDB2315678afecb367f032d93F642f64180aa3"
V4_RULE = "must be a token of generation v0 to v3.1; for a v4 token use /api/get-uncollected-fees/{address}"

# lockerAddress, lpNftId, contract_address, type
GOLDEN = {
    "legacy-v0-deploy": (
        "0x5e078B7cc2D3f65f5DbA27bf6a424ec6eD6AaFC8", "4", "0x13819f4406780dB8FEe7e2A88CCe199aE65076f5", "proxy",
    ),
    "legacy-v2-deploy": (
        "0x618A9840691334eE8d24445a4AdA4284Bf42417D", "2", "0x3ca9D4D32d0CBC794dd854e76D937f0037Fa7748", "clanker_v2",
    ),
    "legacy-v31-deploy": (
        "0x33e2Eda238edcF470309b8c6D228986A1204c8f9", "1", "0x60541C4871bf12291a75a7C91581A3d6822c4b07", "clanker_v3_1",
    ),
}  # fmt: skip
BUILT = {
    "v1": (v1_launch, (LOCKER, "42", TOKEN, "clanker")),
    "v3.0": (v3_launch, (LOCKER_V3, "42", TOKEN, "clanker_v3")),
}


def assert_refused(answer, status, text):
    assert (answer.status_code, answer.json()["error"]) == (status, text)
    assert answer.headers["Cache-Control"] == "no-store"


def body(facts):
    return dict(zip(("lockerAddress", "lpNftId", "contract_address", "type"), facts, strict=True))


@pytest.mark.parametrize("label", V4_LAUNCHES)
def test_it_refuses_a_v4_token(fetch, label):
    answer = fetch(address=index_launch(mined(label)).contract_address)
    assert_refused(answer, 400, f"address {V4_RULE}")
    assert answer.json()["details"] == [{"field": "address", "message": V4_RULE}]


def test_it_refuses_a_token_of_a_generation_that_the_registry_has_lost_unless_it_has_an_nft(fetch):
    token = TokenFactory(contract_address=ADDRESS, generation="lost", locker_address=LOCKER)
    assert_refused(fetch(address=ADDRESS), 400, f"address {V4_RULE}")
    token.position_id = "9"
    token.save()
    assert fetch(address=ADDRESS).json() == body((LOCKER, "9", ADDRESS, "lost"))


@pytest.mark.parametrize("label", GOLDEN)
@pytest.mark.parametrize("spell", [str, str.lower])
def test_it_returns_a_recorded_launch(fetch, label, spell):
    token = index_launch(mined(label))
    answer = fetch(address=spell(token.contract_address), partner="x")
    assert (answer.status_code, answer.json()) == (200, body(GOLDEN[label]))
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert answer.headers["X-Ignored-Params"] == "partner"


@pytest.mark.parametrize("generation", BUILT)
def test_it_returns_a_built_launch(fetch, generation):
    launch, facts = BUILT[generation]
    index_launch(launch())
    assert fetch(address=TOKEN).json() == body(facts)


def test_of_several_chains_the_registrys_first_counts(fetch):
    for chain_id, position_id in ((10143, "3"), (2741, "2"), (8453, "1")):
        TokenFactory(contract_address=ADDRESS, chain_id=chain_id, generation="v3.1", position_id=position_id)
    assert fetch(address=ADDRESS).json()["lpNftId"] == "1"
    assert fetch(address=ADDRESS, chainId=2741).json()["lpNftId"] == "2"
    assert fetch(address=ADDRESS, chainId=10143).json()["lpNftId"] == "3"


def test_it_queries_the_database_for_key_and_token(fetch, django_assert_num_queries):
    TokenFactory(contract_address=ADDRESS, generation="v2", position_id="1")
    # The first use of a key is stored.
    fetch(address=ADDRESS)
    with django_assert_num_queries(2):
        assert fetch(address=ADDRESS).status_code == 200
