"""accounts/profiles/social_provider.py against the stand-in in all its modes, and validation of each field."""

import pytest

from accounts.profiles import social_provider
from accounts.profiles.social_provider import fetch_profiles
from accounts.profiles.social_responses import (
    MAX_ADDRESSES,
    MAX_BIO,
    MAX_NAME,
    MAX_URL,
    Profile,
    parse_hub_profile,
    parse_neynar_user,
)
from config.http.errors import InvalidResponseError, PermanentError, RetryableError
from development.standins.http_server import Mode
from development.standins.social_server import neynar_user, username
from tokens.chains.addresses import checksum_address

ETH = "0x" + "ab" * 20
OTHER_ETH = "0x" + "cd" * 20
SOL = "So11111111111111111111111111111111111111112"
# The stand-in has the first two of these.
FIDS = (5, 6, 7)


@pytest.fixture(params=["neynar", "hub"])
def provider(request, social, settings):
    """Return the stand-in as each of the two kinds of provider."""
    settings.SOCIAL_TIMEOUT_SECONDS = 2.0
    if request.param == "hub":
        settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "", social.url
    return social


@pytest.mark.parametrize(
    ("mode", "family", "text"),
    [
        (Mode.FAIL, RetryableError, "HTTP status 500"),
        (Mode.WRONG_SHAPE, InvalidResponseError, "response without a list of "),
        (Mode.HUGE, PermanentError, f"a response of more than {social_provider.MAX_BYTES} bytes"),
    ],
)
def test_a_failed_request_has_its_reason(provider, mode, family, text):
    provider.behave(mode)
    found = fetch_profiles(FIDS)
    assert (found.profiles, found.unknown) == ({}, set())
    assert isinstance(found.error, family)
    assert str(found.error).startswith(text)
    assert len(provider.received) == 1


def test_it_does_not_wait_for_a_provider_that_stalls(provider, settings):
    settings.SOCIAL_TIMEOUT_SECONDS = 0.1
    provider.behave(Mode.STALL, seconds=600)
    assert str(fetch_profiles(FIDS).error) == "no response (ReadTimeout)"


@pytest.mark.parametrize("answer", [None, 7, "users", [], {}, {"users": None}, {"users": {}}, {"messages": "x"}])
def test_it_refuses_an_answer_of_another_shape(provider, answer):
    provider.change = lambda received, body: answer
    assert isinstance(fetch_profiles(FIDS).error, InvalidResponseError)


def test_a_list_of_users_without_one_that_can_be_read_is_no_answer(social):
    social.change = lambda received, body: {"users": [None, {"fid": "5"}]}
    assert isinstance(fetch_profiles(FIDS).error, InvalidResponseError)


@pytest.mark.parametrize("garbage", [None, 7, "x", [], {}, {"fid": "6"}, {"fid": None}, {"fid": True}, {"fid": 6.0}])
def test_a_user_that_cannot_be_read_costs_no_other(social, garbage):
    social.change = lambda received, body: {"users": [garbage, *body["users"][:1], garbage]}
    found = fetch_profiles(FIDS)
    assert (set(found.profiles), found.unknown, found.error) == ({5}, {6, 7}, None)


def test_users_that_were_not_requested_are_ignored(social):
    social.change = lambda received, body: {"users": [*body["users"], neynar_user(8)]}
    assert set(fetch_profiles(FIDS).profiles) == {5, 6}


@pytest.mark.parametrize("status", [400, 404])
def test_a_fid_that_the_provider_refuses_holds_up_no_other(social, status):
    def refuse(received):
        return status if "13" in received.query["fids"].split(",") else None

    social.refuse = refuse
    found = fetch_profiles(range(1, 21))
    assert found.unknown == {7, 13, 14}
    assert set(found.profiles) == set(range(1, 21)) - found.unknown
    assert found.error is None


@pytest.mark.parametrize("status", [400, 404])
def test_an_address_where_nothing_is_taken_makes_no_fid_unknown(social, status):
    social.refuse = lambda received: status
    found = fetch_profiles(FIDS)
    assert (found.profiles, found.unknown, str(found.error)) == ({}, set(), f"HTTP status {status}")


def test_it_fetches_no_fid_that_cannot_exist(provider):
    found = fetch_profiles([2**31, 2**63 - 1, 5])
    assert (set(found.profiles), found.unknown) == ({5}, {2**31, 2**63 - 1})
    assert len(fetch_profiles([2**31]).unknown) == 1
    assert not any(str(2**31) in str(received.query) for received in provider.received)


def test_it_returns_whether_a_provider_is_configured(settings):
    settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "", ""
    assert not social_provider.is_configured()
    settings.FARCASTER_HUB_URL = "http://hub"
    assert social_provider.is_configured()
    settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "key", ""
    assert social_provider.is_configured()


def test_it_fetches_a_hundred_people_in_one_call_with_the_key(social, settings):
    settings.SOCIAL_API_KEY = "k3y"
    found = fetch_profiles(range(1, 101))
    assert len(found.profiles) + len(found.unknown) == 100
    (received,) = social.received
    assert received.headers["x-api-key"] == "k3y"
    assert received.query["fids"] == ",".join(map(str, range(1, 101)))


def test_both_providers_return_the_same_people(social, settings):
    fids = range(1, 31)
    by_neynar = fetch_profiles(fids)
    settings.SOCIAL_API_KEY, settings.FARCASTER_HUB_URL = "", social.url
    by_hub = fetch_profiles(fids)
    assert by_neynar.unknown == by_hub.unknown == {7, 14, 21, 28}
    assert by_neynar.profiles[5].username == username(5)
    for fid, profile in by_neynar.profiles.items():
        other = by_hub.profiles[fid]
        assert profile.score is not None
        assert other.score is None
        names = ("username", "display_name", "pfp_url", "bio")
        assert [getattr(profile, name) for name in names] == [getattr(other, name) for name in names]
        assert set(profile.verified_addresses) == set(other.verified_addresses)


def user(**changes):
    """Return the profile that is parsed from a Neynar user with these values."""
    return parse_neynar_user({"fid": 5} | changes)


@pytest.mark.parametrize("fid", [None, "5", 5.0, True, 0, -1, 2**63, [5]])
def test_a_user_without_a_fid_is_not_read(fid):
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
    assert user(verified_addresses={"eth_addresses": [address, ETH]}).verified_addresses == (checksum_address(ETH),)


def test_addresses_come_once_evm_first_and_the_chosen_one_before_the_others():
    verified = {
        "eth_addresses": [ETH, OTHER_ETH, ETH.upper().replace("0X", "0x")],
        "sol_addresses": [SOL],
        "primary": {"eth_address": OTHER_ETH, "sol_address": None},
    }
    expected = (checksum_address(OTHER_ETH), checksum_address(ETH), SOL)
    assert user(verified_addresses=verified, verifications=[ETH]).verified_addresses == expected
    verified["primary"] = {"eth_address": "0x" + "ef" * 20, "sol_address": ETH}
    assert user(verified_addresses=verified).verified_addresses == (
        checksum_address(ETH),
        checksum_address(OTHER_ETH),
        SOL,
    )
    assert user(verifications=[ETH]).verified_addresses == (checksum_address(ETH),)
    many = [f"0x{number:040x}" for number in range(1000)]
    assert len(user(verified_addresses={"eth_addresses": many}).verified_addresses) == MAX_ADDRESSES


def message(fid=5, timestamp=1, **body):
    return {"data": {"fid": fid, "timestamp": timestamp, **body}}


def data_message(kind, value, **more):
    return message(userDataBody={"type": f"USER_DATA_TYPE_{kind}", "value": value}, **more)


@pytest.mark.parametrize(
    "messages",
    [
        None,
        {},
        [],
        [None],
        [{}],
        [{"data": []}],
        [data_message("BIO", "x", fid=6)],
        [message(userDataBody={"type": 3})],
    ],
)
def test_a_hub_without_messages_of_the_person_gives_no_profile(messages):
    assert parse_hub_profile(5, user_data=messages, verifications=[]) is None


def test_of_two_messages_of_a_hub_the_newer_holds():
    messages = [
        data_message("USERNAME", "new", timestamp=2),
        data_message("USERNAME", "old"),
        data_message("BIO", "x", timestamp="soon"),
        7,
    ]
    profile = parse_hub_profile(5, user_data=messages, verifications=None)
    assert profile == Profile(fid=5, username="new", bio="x")


def test_addresses_of_a_hub_are_read_under_either_name():
    verifications = [
        message(verificationAddAddressBody={"address": SOL, "protocol": "PROTOCOL_SOLANA"}),
        message(verificationAddEthAddressBody={"address": ETH}),
        message(verificationAddAddressBody={"address": OTHER_ETH}, fid=6),
        message(verificationAddAddressBody="x"),
    ]
    profile = parse_hub_profile(5, user_data=[data_message("BIO", "x")], verifications=verifications)
    assert profile.verified_addresses == (checksum_address(ETH), SOL)
