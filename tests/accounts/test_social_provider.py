"""accounts/profiles/social_provider.py against the stand-in in all its modes; and what is believed, value by value."""

import pytest

from accounts.profiles import social_provider
from accounts.profiles.social_provider import find_people
from accounts.profiles.social_responses import (
    MAX_ADDRESSES,
    MAX_BIO,
    MAX_NAME,
    MAX_URL,
    Profile,
    read_hub_person,
    read_neynar_user,
)
from config.api.fields import checksum
from config.http.json_client import Permanent, RateLimited, Retryable, StatusRefused, WrongAnswer
from development.standins.http_server import Mode
from development.standins.social_server import neynar_user, username

ETH = "0x" + "ab" * 20
OTHER_ETH = "0x" + "cd" * 20
SOL = "So11111111111111111111111111111111111111112"
# Of these the stand-in knows the first two.
FIDS = (5, 6, 7)


@pytest.fixture(params=["neynar", "hub"])
def provider(request, social, settings):
    """The stand-in, as each of the two kinds of provider."""
    settings.SOCIAL_TIMEOUT_SECONDS = 2.0
    if request.param == "hub":
        settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "", social.url
    return social


# What goes wrong.


@pytest.mark.parametrize(
    ("mode", "family", "text"),
    [
        (Mode.FAIL, Retryable, "HTTP status 500"),
        (Mode.RATE_LIMIT, RateLimited, "HTTP status 429"),
        (Mode.WRONG_KEY, StatusRefused, "HTTP status 401"),
        (Mode.NOT_JSON, Retryable, "an answer that is not JSON"),
        (Mode.WRONG_SHAPE, WrongAnswer, "an answer without a list of "),
        (Mode.HUGE, Permanent, f"an answer of more than {social_provider.MAX_BYTES} bytes"),
        (Mode.CUT_SHORT, Retryable, "no answer (ProtocolError)"),
    ],
)
def test_it_says_why_nobody_was_answered(provider, mode, family, text):
    provider.behave(mode, seconds=7)
    found = find_people(FIDS)
    assert (found.profiles, found.unknown) == ({}, set())
    assert isinstance(found.error, family)
    assert str(found.error).startswith(text)
    assert len(provider.asked) == 1
    if mode == Mode.RATE_LIMIT:
        assert found.error.retry_after == 7


def test_it_does_not_wait_for_a_provider_that_stalls(provider, settings):
    settings.SOCIAL_TIMEOUT_SECONDS = 0.1
    provider.behave(Mode.STALL, seconds=600)
    assert str(find_people(FIDS).error) == "no answer (ReadTimeout)"


@pytest.mark.parametrize("answer", [None, 7, "users", [], {}, {"users": None}, {"users": {}}, {"messages": "x"}])
def test_it_refuses_an_answer_of_another_shape(provider, answer):
    provider.change = lambda asked, body: answer
    assert isinstance(find_people(FIDS).error, WrongAnswer)


def test_a_list_of_users_without_one_that_can_be_read_is_no_answer(social):
    social.change = lambda asked, body: {"users": [None, {"fid": "5"}]}
    assert isinstance(find_people(FIDS).error, WrongAnswer)


@pytest.mark.parametrize("garbage", [None, 7, "x", [], {}, {"fid": "6"}, {"fid": None}, {"fid": True}, {"fid": 6.0}])
def test_a_user_that_cannot_be_read_costs_nobody_else(social, garbage):
    social.change = lambda asked, body: {"users": [garbage, *body["users"][:1], garbage]}
    found = find_people(FIDS)
    assert (set(found.profiles), found.unknown, found.error) == ({5}, {6, 7}, None)


def test_it_believes_nothing_about_whom_it_did_not_ask_for(social):
    social.change = lambda asked, body: {"users": [*body["users"], neynar_user(8)]}
    assert set(find_people(FIDS).profiles) == {5, 6}


@pytest.mark.parametrize("status", [400, 404])
def test_a_fid_that_the_provider_refuses_holds_up_nobody_else(social, status):
    def refuse(asked):
        return status if "13" in asked.query["fids"].split(",") else None

    social.refuse = refuse
    found = find_people(range(1, 21))
    assert found.unknown == {7, 13, 14}
    assert set(found.profiles) == set(range(1, 21)) - found.unknown
    assert found.error is None


@pytest.mark.parametrize("status", [400, 404])
def test_an_address_where_nothing_is_taken_makes_nobody_unknown(social, status):
    social.refuse = lambda asked: status
    found = find_people(FIDS)
    assert (found.profiles, found.unknown, str(found.error)) == ({}, set(), f"HTTP status {status}")


def test_it_asks_for_no_fid_that_cannot_be(provider):
    found = find_people([2**31, 2**63 - 1, 5])
    assert (set(found.profiles), found.unknown) == ({5}, {2**31, 2**63 - 1})
    assert len(find_people([2**31]).unknown) == 1
    assert not any(str(2**31) in str(asked.query) for asked in provider.asked)


def test_what_the_hub_told_before_it_failed_is_kept(social, settings):
    settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "", social.url
    social.refuse = lambda asked: 500 if asked.query["fid"] == "8" else None
    found = find_people([5, 7, 8, 9])
    assert (set(found.profiles), found.unknown, str(found.error)) == ({5}, {7}, "HTTP status 500")


# What goes right.


def test_it_knows_whether_there_is_somebody_to_ask(settings):
    settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "", ""
    assert not social_provider.is_configured()
    settings.FARCASTER_HUB_URL = "http://hub"
    assert social_provider.is_configured()
    settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "key", ""
    assert social_provider.is_configured()


def test_it_asks_for_a_hundred_people_in_one_call_with_the_key(social, settings):
    settings.SOCIAL_API_KEY = "k3y"
    found = find_people(range(1, 101))
    assert len(found.profiles) + len(found.unknown) == 100
    (asked,) = social.asked
    assert asked.headers["x-api-key"] == "k3y"
    assert asked.query["fids"] == ",".join(map(str, range(1, 101)))


def test_both_providers_tell_of_the_same_people(social, settings):
    fids = range(1, 31)
    told = find_people(fids)
    settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "", social.url
    by_hub = find_people(fids)
    assert told.unknown == by_hub.unknown == {7, 14, 21, 28}
    assert told.profiles[5].username == username(5)
    for fid, profile in told.profiles.items():
        other = by_hub.profiles[fid]
        assert profile.score is not None
        assert other.score is None
        names = ("username", "display_name", "pfp_url", "bio")
        assert [getattr(profile, name) for name in names] == [getattr(other, name) for name in names]
        assert set(profile.verified_addresses) == set(other.verified_addresses)


# What is believed.


def user(**changes):
    """What is read of a user of Neynar's with these values."""
    return read_neynar_user({"fid": 5} | changes)


@pytest.mark.parametrize("fid", [None, "5", 5.0, True, 0, -1, 2**63, [5]])
def test_nobody_is_known_by_anything_but_a_fid(fid):
    assert user(fid=fid) is None


@pytest.mark.parametrize("nothing", [None, 7, 1.5, True, [], {}, [{}], {"value": "x"}])
def test_a_value_of_another_type_is_unknown(nothing):
    names = ("username", "display_name", "pfp_url", "profile", "verified_addresses", "verifications")
    assert user(**dict.fromkeys(names, nothing)) == Profile(fid=5)
    assert user(profile={"bio": nothing}, verified_addresses={"primary": nothing}) == Profile(fid=5)
    assert user(profile={"bio": {"text": nothing}}, verified_addresses={"eth_addresses": nothing}) == Profile(fid=5)


@pytest.mark.parametrize("score", [None, "0.5", True, -0.01, 1.01, float("nan"), float("inf"), 10**400, [0.5]])
def test_a_score_out_of_its_range_is_unknown(score):
    assert user(score=score).score is None


@pytest.mark.parametrize(("score", "read"), [(0, 0.0), (1, 1.0), (0.97, 0.97)])
def test_a_score_is_a_number_from_0_to_1(score, read):
    assert user(score=score).score == read


def test_texts_are_fit_for_the_database_and_of_a_sane_length():
    profile = user(username=" a\0b ", display_name="\ud83d" + "x" * 1000, profile={"bio": {"text": "y" * 100_000}})
    assert profile.username == "ab"
    assert profile.display_name == "\ufffd" + "x" * (MAX_NAME - 1)
    assert profile.bio == "y" * MAX_BIO


@pytest.mark.parametrize(
    "url",
    [
        "",
        "javascript:alert(1)",
        "data:image/png;base64,AAAA",
        "ipfs://x",
        "//host/x.png",
        "https://",
        "https://[x",
        "https://host/a b.png",
        'https://host/"onerror=',
        "https://host/<x>",
        "https://host/\0",
        "https://host/\ud83d",
        "https://host/" + "x" * MAX_URL,
    ],
)
def test_a_picture_that_no_page_should_load_is_left_out(url):
    assert user(pfp_url=url).pfp_url == ""


@pytest.mark.parametrize("url", ["https://host/x.png?w=1#a", "http://host/\u00e9.png", "HTTPS://host/x"])
def test_a_picture_is_an_address_of_the_web(url):
    assert user(pfp_url=url).pfp_url == url


@pytest.mark.parametrize("address", [None, 7, "", "0x12", "vitalik.eth", ETH + "00", SOL + "1", [ETH]])
def test_what_is_no_address_is_left_out(address):
    assert user(verified_addresses={"eth_addresses": [address, ETH]}).verified_addresses == (checksum(ETH),)


def test_addresses_come_once_evm_first_and_the_chosen_one_before_the_others():
    verified = {
        "eth_addresses": [ETH, OTHER_ETH, ETH.upper().replace("0X", "0x")],
        "sol_addresses": [SOL],
        "primary": {"eth_address": OTHER_ETH, "sol_address": None},
    }
    expected = (checksum(OTHER_ETH), checksum(ETH), SOL)
    assert user(verified_addresses=verified, verifications=[ETH]).verified_addresses == expected
    verified["primary"] = {"eth_address": "0x" + "ef" * 20, "sol_address": ETH}
    assert user(verified_addresses=verified).verified_addresses == (checksum(ETH), checksum(OTHER_ETH), SOL)
    assert user(verifications=[ETH]).verified_addresses == (checksum(ETH),)
    many = [f"0x{number:040x}" for number in range(1000)]
    assert len(user(verified_addresses={"eth_addresses": many}).verified_addresses) == MAX_ADDRESSES


def message(fid=5, timestamp=1, **body):
    return {"data": {"fid": fid, "timestamp": timestamp, **body}}


def said(kind, value, **more):
    return message(userDataBody={"type": f"USER_DATA_TYPE_{kind}", "value": value}, **more)


@pytest.mark.parametrize(
    "messages",
    [None, {}, [], [None], [{}], [{"data": []}], [said("BIO", "x", fid=6)], [message(userDataBody={"type": 3})]],
)
def test_a_hub_without_a_word_of_the_person_knows_nobody(messages):
    assert read_hub_person(5, user_data=messages, verifications=[]) is None


def test_of_two_messages_of_a_hub_the_newer_holds():
    messages = [said("USERNAME", "new", timestamp=2), said("USERNAME", "old"), said("BIO", "x", timestamp="soon"), 7]
    profile = read_hub_person(5, user_data=messages, verifications=None)
    assert profile == Profile(fid=5, username="new", bio="x")


def test_addresses_of_a_hub_stand_under_either_name():
    verifications = [
        message(verificationAddAddressBody={"address": SOL, "protocol": "PROTOCOL_SOLANA"}),
        message(verificationAddEthAddressBody={"address": ETH}),
        message(verificationAddAddressBody={"address": OTHER_ETH}, fid=6),
        message(verificationAddAddressBody="x"),
    ]
    profile = read_hub_person(5, user_data=[said("BIO", "x")], verifications=verifications)
    assert profile.verified_addresses == (checksum(ETH), SOL)
