"""Token creators, and their launch counts."""

import pytest

from accounts.profiles.social_refresh import users_by_fid
from config.site import formats
from tests.rows.factories import SocialProfileFactory, TokenFactory
from tests.rows.many_tokens import multiply
from tokens.ledger.creators import Creator, count_launches, creator_of
from tokens.models import Token

pytestmark = pytest.mark.django_db

WALLET = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
OTHER = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC"


def creator_of_known(token):
    """Return a token's creator, with the profiles that are stored."""
    return creator_of(token, users_by_fid([token.requestor_fid]))


def count_of(token):
    creator = creator_of_known(token)
    return count_launches([creator])[creator.key]


def test_a_creator_is_the_confirmed_requestor_and_else_the_wallet():
    SocialProfileFactory(fid=5, verified_addresses=[WALLET])
    SocialProfileFactory(fid=6)
    by_user = creator_of_known(TokenFactory(requestor_fid=5, msg_sender=WALLET, requestor_address=OTHER))
    assert (by_user.key, by_user.fid, by_user.address) == ("5", 5, OTHER)
    assert creator_of_known(TokenFactory(requestor_fid=6, known_interface_deployer=True)).key == "6"
    assert creator_of_known(TokenFactory(requestor_address=WALLET)).key == WALLET
    assert creator_of_known(TokenFactory(msg_sender=WALLET)).key == WALLET
    assert creator_of_known(TokenFactory(msg_sender="")).key == ""


@pytest.mark.parametrize("fid", [5, 6, 7])
def test_a_user_that_nothing_confirms_is_no_creator(fid):
    SocialProfileFactory(fid=5, verified_addresses=[OTHER])
    SocialProfileFactory(fid=6)
    TokenFactory.create_batch(3, msg_sender=WALLET)
    token = TokenFactory(requestor_fid=fid, msg_sender=WALLET)
    assert creator_of_known(token) == Creator(WALLET, None, WALLET)
    assert count_of(token) == 4


def test_listed_launches_are_counted_once():
    token = TokenFactory(msg_sender=WALLET, requestor_address=WALLET)
    TokenFactory(msg_sender=WALLET)
    TokenFactory(requestor_address=WALLET)
    TokenFactory(msg_sender=WALLET, blocked=True)
    TokenFactory(msg_sender=WALLET, unindexed=True)
    TokenFactory()
    assert count_of(token) == 3
    user = TokenFactory(requestor_fid=2**63 - 1, known_interface_deployer=True)
    TokenFactory(requestor_fid=2**63 - 1, blocked=True)
    assert count_of(user) == 1


def test_all_creators_are_counted_in_one_query(django_assert_num_queries):
    tokens = [TokenFactory(requestor_fid=number, known_interface_deployer=number % 2) for number in range(1, 9)]
    found = [creator_of(token, {}) for token in tokens]
    with django_assert_num_queries(1):
        counts = count_launches([*found, creator_of(TokenFactory.build(msg_sender=""), {})])
    assert counts == {creator.key: 1 for creator in found}
    with django_assert_num_queries(0):
        assert count_launches([]) == {}


def test_a_count_ends_at_its_limit():
    values = {"id": "nextval('tokens_token_id_seq')", "contract_address": "'0x' || lpad(n::text, 40, '0')"}
    multiply(TokenFactory(msg_sender=WALLET), values, rows=formats.COUNTED_LAUNCHES)
    assert count_of(Token.objects.first()) == formats.COUNTED_LAUNCHES
    TokenFactory(msg_sender=WALLET)
    token, *_ = TokenFactory.create_batch(3, requestor_address=WALLET)
    assert count_of(token) == formats.COUNTED_LAUNCHES + 1


@pytest.mark.parametrize(
    ("number", "text"), [(1, "1 launch"), (2, "2 launches"), (1_000, "1,000 launches"), (1_001, "1,000+ launches")]
)
def test_numbers_of_launches_in_words(number, text):
    assert formats.launches(number) == text


@pytest.mark.parametrize(("number", "text"), [(None, ""), (0, "0"), (7, "7"), (999, "999"), (12_345, "12.3K")])
def test_whole_numbers_have_no_decimals(number, text):
    assert formats.whole(number) == text
