"""Isolation of users' pretokens when FIDs and linked accounts change owner, with tokens of real issuers."""

import json
import time
from datetime import timedelta

import pytest
from django.utils import timezone

from accounts.models import Person
from accounts.users import identity
from accounts.users.calling_users import resolve_user
from tests.rows.factories import PretokenFactory
from tests.rows.user_tokens import APP_ID, DOMAIN, bearer

pytestmark = pytest.mark.django_db

FID, OTHER_FID = 5, 6


@pytest.fixture
def tokens(issuer):
    return Tokens(issuer)


class Tokens:
    """Factory for tokens of the issuer, issued `ago` seconds before now."""

    def __init__(self, issuer):
        self._issuer = issuer

    def quick_auth(self, fid=FID, *, ago=0):
        return self._issuer.quick_auth(fid, domain=DOMAIN, **self._times(ago))

    def access(self, subject, *, ago=0):
        return self._issuer.privy(subject, app_id=APP_ID, **self._times(ago))

    def identity(self, subject, fid=FID, *, ago=0, **others):
        return self._issuer.privy(subject, app_id=APP_ID, fid=fid, **self._times(ago) | others)

    def identity_of_none(self, subject, *, ago=0):
        """Return an identity token without a linked account of the social protocol."""
        accounts = json.dumps([{"type": "email", "address": "a@example.org"}])
        return self.identity(subject, ago=ago, linked_accounts=accounts)

    def _times(self, ago):
        now = int(time.time()) - ago
        return {"iat": now, "exp": now + 3600}


def create_for(token, keyword):
    """Create a pretoken of the user with this token."""
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


def test_with_any_of_his_tokens_a_user_has_what_he_made_with_the_others(tokens, listed):
    create_for(tokens.quick_auth(), "by fid")
    create_for(tokens.access("a"), "by subject")
    create_for(tokens.identity("a"), "by both")
    everything = ["by both", "by fid", "by subject"]
    for token in (tokens.identity("a"), tokens.access("a"), tokens.quick_auth()):
        assert listed(token) == everything


def test_the_new_owner_of_a_fid_who_shows_it_beside_his_subject_has_nothing_of_the_last_ones_subject(tokens, listed):
    create_for(tokens.identity("seller", ago=60), "of the seller")
    create_for(tokens.quick_auth(ago=50), "of the fid")
    buyers = tokens.identity("buyer")
    create_for(buyers, "of the buyer")
    assert listed(buyers) == listed(tokens.access("buyer")) == ["of the buyer", "of the fid"]
    assert listed(tokens.quick_auth()) == ["of the buyer", "of the fid"]
    assert listed(tokens.access("seller")) == ["of the seller"]
    # The previous owner's older tokens prove nothing any more.
    assert listed(tokens.identity("seller", ago=60)) == ["of the seller"]
    assert listed(tokens.quick_auth()) == ["of the buyer", "of the fid"]


@pytest.mark.parametrize("left", ["none", "another", "several"])
def test_a_subject_whose_identity_token_contradicts_the_link_and_its_fid_reach_each_other_no_more(tokens, listed, left):
    create_for(tokens.identity("a", ago=60), "of the subject")
    several = json.dumps([{"type": "farcaster", "fid": fid} for fid in (FID, OTHER_FID)])
    unlinked_token = {
        "none": tokens.identity_of_none("a"),
        "another": tokens.identity("a", OTHER_FID),
        "several": tokens.identity("a", linked_accounts=several),
    }[left]
    assert listed(unlinked_token) == ["of the subject"]
    create_for(tokens.quick_auth(), "of the fid")
    for token in (tokens.access("a"), unlinked_token, tokens.identity("a", ago=60)):
        assert listed(token) == ["of the subject"]
    assert listed(tokens.quick_auth()) == ["of the fid"]
    assert listed(tokens.quick_auth(OTHER_FID)) == (["of the subject"] if left == "another" else [])


def test_a_new_owner_who_comes_by_quick_auth_has_nothing_of_a_subject_whose_proof_is_over(tokens, listed):
    # Its hour is past, but not the leeway of a minute: the link to the FID ends in a second.
    create_for(tokens.identity("seller", ago=3630), "of the seller")
    Person.objects.filter(linked_to__fid=FID).update(linked_until=timezone.now())
    create_for(tokens.quick_auth(), "of the buyer")
    assert listed(tokens.quick_auth()) == ["of the buyer"]
    assert listed(tokens.access("seller")) == ["of the seller"]


def test_a_token_proves_a_fid_for_a_day_at_the_most(tokens):
    token = tokens.identity("a", exp=int(time.time()) + 10**9)
    claim = identity.verify_token(token).fid_claim
    assert claim.valid_until - claim.valid_from == timedelta(days=1)
