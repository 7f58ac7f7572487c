"""Isolation between users' pretokens when FIDs and linked accounts change owner, with real issuers' tokens."""

import time
from datetime import timedelta

import pytest

from accounts.users import identity
from accounts.users.calling_users import resolve_user
from tests.rows.factories import PretokenFactory
from tests.rows.user_tokens import APP_ID, DOMAIN, bearer

pytestmark = pytest.mark.django_db

FID = 5


@pytest.fixture
def token(issuer):
    """Return a function that makes a token with a subject, a FID or both, issued `ago` seconds before now."""

    def make(subject=None, *, fid=None, ago=0, **times):
        times = {"iat": int(time.time()) - ago, "exp": int(time.time()) - ago + 3600} | times
        if subject is None:
            return issuer.quick_auth(fid, domain=DOMAIN, **times)
        return issuer.privy(subject, app_id=APP_ID, fid=fid, **times)

    return make


def create_for(token, keyword):
    """Create a pretoken for the user with this token."""
    user = resolve_user(identity.verify_token(token))
    return PretokenFactory(owner_id=user.person_id, keyword=keyword)


@pytest.fixture
def listed(client):
    """Return a function that lists the keywords visible with a token."""

    def list_keywords(token):
        answer = client.get("/api/pretoken/pending", headers=bearer(token))
        assert answer.status_code == 200
        return sorted(row["keyword"] for row in answer.json()["pendingPretokens"])

    return list_keywords


def test_with_any_of_his_tokens_a_user_has_what_he_made_with_the_others(token, listed):
    create_for(token(fid=FID), "by fid")
    create_for(token("a"), "by subject")
    create_for(token("a", fid=FID), "by both")
    everything = ["by both", "by fid", "by subject"]
    for each in (token("a", fid=FID), token("a"), token(fid=FID)):
        assert listed(each) == everything


def test_the_new_owner_of_a_fid_who_shows_it_beside_his_subject_has_nothing_of_the_last_ones_subject(token, listed):
    create_for(token("seller", fid=FID, ago=60), "of the seller")
    create_for(token(fid=FID, ago=50), "of the fid")
    buyers = token("buyer", fid=FID)
    create_for(buyers, "of the buyer")
    assert listed(buyers) == listed(token("buyer")) == ["of the buyer", "of the fid"]
    assert listed(token(fid=FID)) == ["of the buyer", "of the fid"]
    assert listed(token("seller")) == ["of the seller"]
    # The previous owner's older tokens prove nothing any more.
    assert listed(token("seller", fid=FID, ago=60)) == ["of the seller"]
    assert listed(token(fid=FID)) == ["of the buyer", "of the fid"]


def test_a_token_proves_a_fid_for_a_day_at_the_most(token):
    claim = identity.verify_token(token("a", fid=FID, exp=int(time.time()) + 10**9)).fid_claim
    assert claim.valid_until - claim.valid_from == timedelta(days=1)
