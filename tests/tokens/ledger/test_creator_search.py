"""GET /api/search-creator: creators by a name's beginning, by a whole address or by a FID."""

import pytest
from django.db import connection

from tests.config.api.test_described_answers import check, close_objects
from tests.rows.factories import SocialProfileFactory, SolanaTokenFactory, TokenFactory
from tests.rows.many_tokens import multiply
from tests.rows.query_plans import plans
from tests.rows.token_lists import cursor_of
from tokens.ledger.creator_search import PROFILES_READ

pytestmark = pytest.mark.django_db

PATH = "/api/search-creator"
WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"


@pytest.fixture
def fetch(client):
    """Send a search and return the response."""
    return lambda q, **parameters: client.get(PATH, {"q": q} | parameters)


def keys(answer):
    assert answer.status_code == 200, answer.content
    return [creator["key"] for creator in answer.json()["data"]]


def launch_of(fid, **names):
    """Create a profile with these names, and a launch by the user."""
    SocialProfileFactory(fid=fid, **names)
    TokenFactory(requestor_fid=fid)


def walk(fetch, q, **parameters):
    found, cursor = [], {}
    for _ in range(50):
        answer = fetch(q, **parameters, **cursor)
        found += keys(answer)
        if answer.json()["cursor"] is None:
            return found
        cursor = {"cursor": answer.json()["cursor"]}
    raise AssertionError("the walk must come to an end")


def test_it_finds_names_by_their_beginning_in_any_case(fetch):
    launch_of(1, username="Alice")
    launch_of(2, username="alicia")
    launch_of(3, username="", display_name="ALIBABA")
    launch_of(4, username="bob", display_name="Alice")
    launch_of(5, username="malice")
    assert keys(fetch("ALI")) == ["3", "1", "2"]
    assert keys(fetch("alice")) == ["1"]
    assert keys(fetch("al_ce")) == keys(fetch("%")) == keys(fetch("\\")) == []


@pytest.mark.parametrize("name", ["李白", "🐶dog", "50%_off\\", "ünal"])
def test_names_of_any_script(fetch, name):
    launch_of(1, username=name)
    launch_of(2, username="zz")
    assert keys(fetch(name[0])) == keys(fetch(name)) == ["1"]


@pytest.mark.parametrize(
    ("name", "q"), [("Straße", "STRASS"), ("STRASSE", "straß"), ("Σοφός", "ΣΟΦΌΣ"), ("İzmir", "izm"), ("Ａda", "ａD")]
)
def test_names_fold_case_as_unicode_does(fetch, name, q):
    launch_of(1, username=name)
    launch_of(2, username="zz")
    assert keys(fetch(q)) == ["1"]


def test_only_creators_with_listed_launches_are_found(fetch):
    SocialProfileFactory(fid=1, username="ada")
    SocialProfileFactory(fid=2, username="adam")
    TokenFactory(requestor_fid=2, blocked=True)
    launch_of(3, username="adele")
    answer = fetch("ad")
    assert answer.json() == {
        "data": [
            {
                "key": "3",
                "fid": 3,
                "address": None,
                "user": answer.json()["data"][0]["user"],
                "launches": 1,
            }
        ],
        "cursor": None,
    }
    assert answer.json()["data"][0]["user"]["username"] == "adele"
    assert answer.headers["Cache-Control"] == "public, s-maxage=15"
    assert (keys(fetch("2")), keys(fetch(WALLET))) == ([], [])


@pytest.mark.parametrize("spell", [str, str.lower, lambda text: "0X" + text[2:].upper(), lambda text: f" {text} "])
def test_it_finds_a_wallet_in_any_spelling(fetch, spell):
    TokenFactory(msg_sender=WALLET)
    TokenFactory(requestor_address=WALLET)
    (found,) = fetch(spell(WALLET)).json()["data"]
    assert found == {"key": WALLET, "fid": None, "address": WALLET, "user": None, "launches": 2}


def test_it_finds_a_wallet_of_solana_and_a_fid_before_names(fetch):
    token = SolanaTokenFactory()
    assert keys(fetch(token.msg_sender)) == [token.msg_sender]
    launch_of(77, username="seven")
    launch_of(8, username="77er")
    assert keys(fetch("77")) == ["77", "8"]


def test_pages_have_each_creator_once(fetch):
    for fid in range(1, 8):
        launch_of(fid, username="same" if fid % 2 else f"same{fid}")
    expected = ["1", "3", "5", "7", "2", "4", "6"]
    assert walk(fetch, "same") == walk(fetch, "same", limit=2) == walk(fetch, "same", limit=1) == expected


def test_a_page_reads_a_limited_number_of_profiles(fetch):
    first, *_, last = SocialProfileFactory.create_batch(2 * PROFILES_READ)
    for profile in (first, last):
        TokenFactory(requestor_fid=profile.fid)
    answer = fetch("user-")
    assert keys(answer) == [str(first.fid)] and answer.json()["cursor"]
    assert walk(fetch, "user-") == [str(first.fid), str(last.fid)]


def test_any_number_of_creators_costs_the_same_queries(fetch, django_assert_num_queries):
    for fid in range(1, 6):
        launch_of(fid, username=f"user{fid}")
    with django_assert_num_queries(3):
        cursor = fetch("user", limit=2).json()["cursor"]
    with django_assert_num_queries(4):
        fetch("user", limit=2, cursor=cursor)


@pytest.mark.parametrize("place", [{}, {"cursor": cursor_of({"id": None, "k": 77, "s": "name"})}])
def test_names_are_read_from_their_index(fetch, place):
    profile = SocialProfileFactory(fid=10**6)
    multiply(profile, {"fid": "n", "username": "'user' || n % 1000"})
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE accounts_socialprofile")
    *_, named = plans(lambda: fetch("user", **place), "accounts_socialprofile")[: 1 + len(place)]
    assert "Index Scan using social_profile_by_folded_name" in named
    assert "Seq Scan on accounts_socialprofile" not in named and "Sort" not in named


def test_it_is_as_described(client, fetch):
    document = client.get("/api/openapi.json").json()
    close_objects(document["components"]["schemas"])
    launch_of(1, username="ada")
    TokenFactory(msg_sender=WALLET)
    for q in ("ada", WALLET, "nobody"):
        check(document, PATH, fetch(q).json())
    check(document, PATH, fetch("").json(), status=400)
