"""Names of chains and callers on the admin site: they obey no mark of direction, and fill no page."""

import re

import pytest
from django.contrib.auth.models import User
from django.utils.html import escape

from config.operators.neutral_pages import neutralize
from tests.config.operators.admin_pages import page_of
from tests.html_pages import HOSTILE
from tests.rows.agent_factories import AgentFactory
from tests.rows.factories import (
    DeploymentFactory,
    IndexRequestFactory,
    PretokenFactory,
    SocialProfileFactory,
    TokenFactory,
    WebhookEndpointFactory,
)

pytestmark = pytest.mark.django_db

DECEIVING = "\u202e\u2066\u200b\u200f\ufeff"
NAME = f"pay{DECEIVING}gnp.exe"
LONG = "x" * 10_000


def rows_named(name):
    """Yield a row of each kind with this name, where there is room for it."""
    yield TokenFactory(name=name, symbol=name, description=name)
    yield SocialProfileFactory(username=name, display_name=name, bio=name)
    yield IndexRequestFactory(status="failed", last_error=name)
    yield DeploymentFactory(status="failed", error=name, config={"token": {"name": name}})
    yield AgentFactory(agent_id=name[-30:], name=name[-30:])
    yield PretokenFactory(keyword=name[-30:], body={"name": name})


def list_of(row):
    return f"/admin/{row._meta.app_label}/{row._meta.model_name}/"


def assert_neutral(answer):
    assert answer.status_code == 200
    # Inputs keep what is saved.
    assert not set(DECEIVING) & set(re.sub("<input[^>]*>|<textarea.*?</textarea>", "", answer.text, flags=re.DOTALL))
    assert "<script>alert(1)" not in answer.text


def test_lists_and_pages_mark_deceiving_characters(operator):
    for row in rows_named(HOSTILE + NAME):
        for path in (list_of(row), f"{page_of(row).removesuffix('change/')}history/", page_of(row)):
            answer = operator.get(path)
            assert_neutral(answer)
        assert "&lt;U+202E&gt;" in answer.text


def test_names_are_cut_in_lists_and_titles(operator):
    for row in rows_named(LONG):
        text = operator.get(list_of(row)).text
        assert "x" * 30 in text or row._meta.model_name == "deployment"
        assert "x" * 250 not in text
    token = TokenFactory(symbol=LONG)
    assert len(str(token)) < 200
    assert "x" * 100 not in operator.get(f"{page_of(token).removesuffix('change/')}block/").text


def test_cells_are_isolated_sorted_and_linked(operator):
    token = TokenFactory(symbol="مرحبا", name="Hello")
    text = operator.get(f"/admin/tokens/token/?q={token.contract_address}").text
    assert "<bdi>مرحبا</bdi></a>" in text and 'class="field-symbol' in text
    assert "o=1" in operator.get("/admin/tokens/token/?o=1").text


def test_confirmations_and_messages_mark_them(operator):
    token = TokenFactory(symbol=NAME)
    page = f"{page_of(token).removesuffix('change/')}block/"
    assert_neutral(operator.get(page))
    assert_neutral(operator.post(page, {"reason": NAME}, follow=True))
    endpoint = WebhookEndpointFactory(disabled_reason=NAME)
    assert_neutral(operator.get(f"{page_of(endpoint).removesuffix('change/')}delete/"))
    User.objects.create_user(NAME)
    assert_neutral(operator.get("/admin/auth/user/"))


def test_inputs_keep_their_values():
    form = f'<textarea name="a">{NAME}\n</textarea><input value="{escape(NAME)}">'
    assert neutralize(f"<p>{NAME[:4]}</p>\n\t{form}") == f"<p>pay&lt;U+202E&gt;</p>\n\t{form}"
