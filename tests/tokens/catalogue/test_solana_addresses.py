"""Solana's mints, wallets, pools and signatures at every endpoint that takes an address: case-sensitive."""

import json
from dataclasses import dataclass, replace
from urllib.parse import quote

import pytest
from django.urls import reverse
from hypothesis import given
from hypothesis import strategies as st

from config.api.openapi_views import openapi_document
from config.api.rendering import render_json
from tests.nodes.recordings import DATA
from tests.nodes.solana.recorded import CREATOR, LAUNCH, MINT, PARTNER, POOL
from tests.nodes.solana.recorded import WRAPPED_SOL as SOL
from tests.rows.factories import TokenFactory
from tokens.catalogue.records import read_records
from tokens.chains.addresses import (
    is_solana_address,
    is_solana_signature,
    parse_address,
    parse_pool_address,
    parse_transaction_hash,
)
from tokens.indexing import index_requests
from tokens.indexing.launch_rows import token_columns
from tokens.models import Token

pytestmark = pytest.mark.django_db

DIGITS = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
EVM = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
OWN_KEYS = ("id", "created_at", "last_indexed")
LISTS = ("/api/tokens", "/api/tokens/authenticated")


@dataclass(frozen=True)
class Place:
    """A parameter that takes an address, and that address in the recorded launch."""

    path: str
    name: str
    value: str

    def url(self, text):
        """Return the URL with its parameters."""
        in_path = {"tokenAddress": MINT, "feeRecipient": CREATOR, "chainId": 101, "address": MINT}
        if f"{{{self.name}}}" in self.path:
            return self.path.format(**in_path | {self.name: quote(text)}), {}
        others = {"tokenAddress": EVM, "claimerAddress": EVM} if "airdrops" in self.path else {}
        others |= {"tokenAddress": MINT} if "marketcap" in self.path else {}
        others |= {"chainId": "8453", "presaleId": "1"} if "presales" in self.path else {}
        return self.path.format(**in_path), others | {self.name: text}


TAKEN = [
    *(Place(path, "msgSender", PARTNER) for path in LISTS),
    *(Place(path, "pairAddress", POOL) for path in LISTS),
    Place("/api/tokens/fetch-deployed-by-address", "address", CREATOR),
    Place("/api/tokens/fetch-by-pool-address", "poolAddress", POOL),
    Place("/api/get-token-by-address", "address", MINT),
    Place("/api/tokens/fetch-by-admin", "admin", CREATOR),
    Place("/api/tokens/is-blocked", "address", MINT),
    Place("/api/marketcap", "tokenAddress", MINT),
    Place("/api/marketcap", "poolAddress", POOL),
    Place("/api/get-user-by-address", "address", CREATOR),
    Place("/api/get-claimed-fees/{tokenAddress}/{feeRecipient}", "tokenAddress", MINT),
    Place("/api/get-claimed-fees/{tokenAddress}/{feeRecipient}", "feeRecipient", CREATOR),
    Place("/api/get-uncollected-fees/{address}", "address", MINT),
    Place("/api/get-uncollected-fees/{address}", "recipient", CREATOR),
    Place("/api/creators/{creator}", "creator", CREATOR),
    Place("/api/tokens/{chainId}/{address}", "address", MINT),
    Place("/api/tokens/{chainId}/{address}/trades", "address", MINT),
    Place("/api/tokens/{chainId}/{address}/candles", "address", MINT),
    Place("/api/tokens/{chainId}/{address}/integrity", "address", MINT),
]
OF_EVM_ONLY = [
    Place("/api/tokens/estimate-rewards-by-pool-address", "poolAddress", POOL),
    Place("/api/get-lp-info/{address}", "address", MINT),
    Place("/api/get-claim-info", "address", MINT),
    Place("/api/airdrops/claim", "tokenAddress", MINT),
    Place("/api/airdrops/claim", "claimerAddress", CREATOR),
    Place("/api/airdrops", "tokenAddress", MINT),
    Place("/api/airdrops", "claimerAddress", CREATOR),
    Place("/api/airdrops/allocations", "tokenAddress", MINT),
    Place("/api/presales/allowlists/proof", "buyerAddress", CREATOR),
    Place("/api/presales", "owner", CREATOR),
    Place("/api/presales", "tokenAdmin", CREATOR),
]
# Parts of paths whose responses have no token record.
_OTHERS = ("is-blocked", "-fees", "/creators", "/trades", "/candles", "/marketcap", "/get-user", "/integrity")
FINDING = [place for place in TAKEN if not any(part in place.path for part in _OTHERS)]
WITH_CHAIN = [
    place for place in TAKEN if place.path in (*LISTS, "/api/get-token-by-address", "/api/tokens/fetch-by-admin")
]


def place_id(place):
    return f"{place.path} {place.name}"


def other_cases(text):
    """Return the text with one letter's case changed, wherever the result still encodes 32 bytes as base58."""
    changed = (text[:place] + letter.swapcase() + text[place + 1 :] for place, letter in enumerate(text))
    return [other for other in changed if other != text and is_solana_address(other)]


def other_case(text):
    return other_cases(text)[0]


@pytest.fixture
def token(installed_solana_node):
    """Index the recorded launch from a node."""
    index_requests.index_transaction(chain_id=101, tx_hash=LAUNCH)
    return Token.objects.get()


@pytest.fixture
def fetch(client, read_key):
    """Request a place with a text; return the response."""

    def get(place, text, **parameters):
        path, own = place.url(text)
        return client.get(path, own | parameters, headers={} if place.path == LISTS[0] else read_key)

    return get


def found(answer):
    """Return the token addresses in a response."""
    assert answer.status_code in (200, 404), answer.content
    data = answer.json().get("data", [])
    return [record["contract_address"] for record in (data if isinstance(data, list) else [data])]


def refused_fields(answer):
    assert answer.status_code == 400, answer.content
    return [detail["field"] for detail in answer.json()["details"]]


# Refusals.

WRONG = {
    "31 bytes": lambda text: text[:-2],
    "33 bytes": lambda text: text + "zz",
    **{f"an {letter}": lambda text, letter=letter: letter + text[1:] for letter in "0OIl"},
    "a blank before": lambda text: f" {text}",
    "a blank after": lambda text: f"{text} ",
    "a line's end": lambda text: f"{text}\n",
    "a look-alike": lambda text: "А" + text[1:],
}


@pytest.mark.parametrize("place", [*TAKEN, *OF_EVM_ONLY], ids=place_id)
def test_it_refuses_what_is_no_base58_of_32_bytes_by_name(fetch, token, place):
    for case, wrong in WRONG.items():
        text = wrong(place.value)
        assert not is_solana_address(text)
        assert refused_fields(fetch(place, text)) == [place.name], case


@pytest.mark.parametrize("place", OF_EVM_ONLY, ids=place_id)
def test_what_is_of_evm_chains_only_refuses_the_right_ones_too(fetch, token, place):
    assert refused_fields(fetch(place, place.value)) == [place.name]


@pytest.mark.parametrize("name", ["tokens/deploy", "tokens/deploy/v4"])
@pytest.mark.parametrize("dry_run", [False, True])
def test_nothing_is_launched_on_solana(client, deploy_key, name, dry_run):
    body = {
        "token": {"name": "Dog", "symbol": "DOG", "tokenAdmin": CREATOR, "requestKey": "a" * 32},
        "chainId": 101,
        "dryRun": dry_run,
    }
    answer = client.post(f"/api/{name}", json.dumps(body), content_type="application/json", headers=deploy_key)
    assert set(refused_fields(answer)) == {"chainId", "token.tokenAdmin"}
    assert all(
        "on Solana there is no launch through this service" in entry["message"] for entry in answer.json()["details"]
    )


def test_every_get_with_an_address_is_among_those():
    """Check the description's address pattern."""
    described = {
        f"{path} {parameter['name']}"
        for path, methods in json.loads(openapi_document())["paths"].items()
        for parameter in methods.get("get", {}).get("parameters", [])
        # Feeds have only EVM chains, and are off here.
        if "[0-9a-fA-F]{40}" in parameter["schema"].get("pattern", "") and not path.startswith("/api/feeds/")
    }
    # The stream has no chain list: its filter compares texts (tests/config/events/test_stream_query.py).
    assert described == {place_id(place) for place in (*TAKEN, *OF_EVM_ONLY)} | {"/api/tokens/stream creator"}


# Results.


def test_a_token_is_found_by_what_is_its_own_letter_by_letter(fetch, token):
    for place in FINDING:
        assert found(fetch(place, place.value)) == [MINT], place
        for text in other_cases(place.value)[::6]:
            assert found(fetch(place, text)) == [], (place, text)


def test_it_is_on_solana_only(fetch, token):
    for place in WITH_CHAIN:
        assert found(fetch(place, place.value, chainId=101)) == [MINT], place
        assert found(fetch(place, place.value, chainId=8453)) == [], place
        assert found(fetch(place, EVM, chainId=101)) == [], place


def test_tokens_are_found_by_what_they_are_paired_with(fetch, token):
    assert found(fetch(Place("/api/tokens", "pairAddress", SOL), SOL)) == [MINT]
    assert found(fetch(Place("/api/tokens", "pairAddress", SOL), other_case(SOL))) == []


def test_a_mint_is_blocked_letter_by_letter(fetch, token):
    Token.objects.update(blocked=True)
    place = Place("/api/tokens/is-blocked", "address", MINT)
    assert fetch(place, MINT).json() == {"address": MINT, "blocked": True}
    assert fetch(place, MINT, chainId=101).json()["blocked"] is True
    for answer in (fetch(place, other_case(MINT)), fetch(place, MINT, chainId=8453), fetch(place, EVM, chainId=101)):
        assert answer.json()["blocked"] is False


def test_pools_are_the_keys_of_a_batch_as_they_are(client, token):
    evm = TokenFactory(pool_address=EVM)
    body = {"poolAddresses": [POOL, other_case(POOL), EVM.lower()]}
    answer = client.post("/api/tokens/fetch-by-pool-addresses", json.dumps(body), content_type="application/json")
    records = {pool: record["id"] for pool, record in answer.json()["data"].items()}
    assert records == {POOL: token.pk, EVM.lower(): evm.pk}


@pytest.mark.parametrize("named", [MINT, POOL, LAUNCH])
def test_a_search_has_what_a_text_names_first_and_only_in_its_own_case(client, read_key, token, named):
    other = TokenFactory(name=f"is it {named.lower()}?"[:90])
    changed = other_case(named) if is_solana_address(named) else named.swapcase()
    for path in (*LISTS, "/api/tokens/search"):
        headers = {} if path != LISTS[1] else read_key
        rows = found(client.get(path, {"q": f" {named} "}, headers=headers))
        assert rows[0] == MINT
        assert MINT not in found(client.get(path, {"q": changed}, headers=headers))
        assert set(rows) <= {MINT, other.contract_address}


def test_operators_find_it_likewise(operator, token):
    def listed(text):
        answer = operator.get(reverse("admin:tokens_token_changelist"), {"q": text})
        return list(answer.context["cl"].queryset)

    for named in (MINT, POOL, LAUNCH):
        assert listed(named) == [token]
        assert listed(other_case(named) if is_solana_address(named) else named.swapcase()) == []


# Records.


def test_the_record_of_a_token_of_solana_is_the_golden_one(token):
    record = json.loads(render_json(read_records(Token.objects.all())[0]))
    shown = {key: value for key, value in record.items() if key not in OWN_KEYS}
    assert shown == json.loads((DATA / "records" / "solana.json").read_text(encoding="utf-8"))


def test_a_pair_that_is_on_no_list_is_warned_of_by_its_mint(solana, solana_info):
    (launch,) = solana.read_transaction(LAUNCH).launches
    pools = {"SOL": launch.pool, "another": replace(launch.pool, paired_token=other_case(SOL)), "none": None}
    found_with = {
        name: token_columns(replace(launch, pool=pool), chain=solana_info, presets=())["launch_warnings"]
        for name, pool in pools.items()
    }
    assert found_with == {"SOL": [], "another": ["UNUSUAL_PAIR_ADDRESS"], "none": ["MISSING_POOL_CONFIG"]}


# Base58 itself.


def encode(raw):
    """Return bytes in base58, by the definition."""
    number, text = int.from_bytes(raw, "big"), ""
    while number:
        number, digit = divmod(number, 58)
        text = DIGITS[digit] + text
    return "1" * (len(raw) - len(raw.lstrip(b"\0"))) + text


@given(st.binary(min_size=32, max_size=32))
def test_every_32_bytes_are_an_account_that_stays_as_it_is(raw):
    text = encode(raw)
    assert parse_address(text, allow_mint=True) == parse_pool_address(text) == text


@given(st.binary(min_size=64, max_size=64))
def test_every_64_bytes_are_a_signature_that_stays_as_it_is(raw):
    assert parse_transaction_hash(encode(raw), allow_signature=True) == encode(raw)


@given(st.binary(max_size=100).filter(lambda raw: len(raw) not in (32, 64)))
def test_other_numbers_of_bytes_are_neither(raw):
    assert not is_solana_address(encode(raw)) and not is_solana_signature(encode(raw))


@given(st.text(max_size=100))
def test_other_texts_are_neither(text):
    assert not is_solana_address(text) or set(text) <= set(DIGITS)
    assert not is_solana_signature(text) or set(text) <= set(DIGITS)
