"""The admin pages of social profiles."""

import pytest
from django.urls import reverse

from tests.rows.admin_pages import shown
from tests.rows.factories import SocialProfileFactory

pytestmark = pytest.mark.django_db

LIST = "admin:accounts_socialprofile_changelist"


def test_profiles_are_read_only(operator):
    profile = SocialProfileFactory(fid=5, wanted=True)
    page = reverse("admin:accounts_socialprofile_change", args=[5])
    assert operator.get(page).status_code == 200
    assert operator.post(page, {"username": "other"}).status_code == 403
    assert operator.post(reverse("admin:accounts_socialprofile_delete", args=[5])).status_code == 403
    assert operator.get(reverse("admin:accounts_socialprofile_add")).status_code == 403
    profile.refresh_from_db()
    assert profile.username == ""


def test_people_are_listed_and_found_by_fid_or_name(operator):
    SocialProfileFactory(fid=5, username="a<b")
    SocialProfileFactory(fid=50)
    assert shown(operator, LIST) == [50, 5]
    assert shown(operator, LIST, q="5") == [5]
    assert shown(operator, LIST, q="A<B") == [5]
    assert shown(operator, LIST, q="nobody") == []
    assert "a&lt;b" in operator.get(reverse(LIST)).content.decode()
