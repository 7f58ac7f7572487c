"""The admin pages of social profiles."""

import pytest
from django.urls import reverse

from tests.config.operators.admin_pages import shown
from tests.rows.factories import SocialProfileFactory

pytestmark = pytest.mark.django_db

LIST = "admin:accounts_socialprofile_changelist"


def test_people_are_listed_and_found_by_fid_or_name(operator):
    SocialProfileFactory(fid=5, username="a<b")
    SocialProfileFactory(fid=50)
    assert shown(operator, LIST) == [50, 5]
    assert shown(operator, LIST, q="5") == [5]
    assert shown(operator, LIST, q="A<B") == [5]
    assert shown(operator, LIST, q="nobody") == []
    assert "a&lt;b" in operator.get(reverse(LIST)).content.decode()
