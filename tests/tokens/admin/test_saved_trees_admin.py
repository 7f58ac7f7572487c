"""Tests of the admin page of airdrops and allow-lists that partners have saved."""

import pytest
from django.contrib.admin.models import DELETION, LogEntry
from django.contrib.auth.models import Permission, User
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from tests.config.operators.admin_pages import messages, page_of, shown
from tests.rows.airdrop_entries import sample_entries
from tests.rows.factories import PartnerKeyFactory, TokenFactory
from tokens.chains.launching.merkle import build_tree
from tokens.deploying.saved_airdrops import save_tree
from tokens.models import SavedTree, SavedTreeEntry, TreeKind

pytestmark = pytest.mark.django_db

LIST = "admin:tokens_savedtree_changelist"


def save(size, *, name="Acme", kind=TreeKind.AIRDROP):
    entries = sample_entries(size)
    return save_tree(build_tree(entries), entries, kind=kind, partner=PartnerKeyFactory(name=name))


def remove_page(tree):
    return reverse("admin:tokens_savedtree_remove_this", args=[tree.pk])


def test_trees_are_found_by_root_token_and_partner(operator):
    first, second = save(1), save(2, name="Other", kind=TreeKind.ALLOWLIST)
    token = TokenFactory(extensions={"airdrop": {"merkleRoot": first.root}})
    without = TokenFactory(extensions={})
    assert shown(operator, LIST) == [second.pk, first.pk]
    assert shown(operator, LIST, q=second.root.upper().replace("0X", "0x")) == [second.pk]
    assert shown(operator, LIST, q=token.contract_address.lower()) == [first.pk]
    assert shown(operator, LIST, q=without.contract_address) == []
    assert shown(operator, LIST, q="oth") == [second.pk]
    assert shown(operator, LIST, kind="allowlist") == [second.pk]
    assert shown(operator, LIST, partner_key__id__exact=first.partner_key_id) == [first.pk]


def test_a_list_has_one_name_and_one_form_of_its_kinds(operator):
    save(1)
    save(2, kind=TreeKind.ALLOWLIST)
    text = operator.get(reverse(LIST)).text
    assert "Saved trees" in text and "Saved by partners" not in text
    assert "Airdrop" in text and "Allow-list" in text and "allow-list<" not in text


def test_a_page_has_the_first_entries_and_reads_no_nodes(operator):
    tree = save(103)
    with CaptureQueriesContext(connection) as queries:
        text = operator.get(page_of(tree)).text
    assert not any('"nodes"' in query["sql"] for query in queries)
    accounts = sorted(account for account, _ in sample_entries(103))
    amounts = dict(sample_entries(103))
    assert f"<li>{accounts[0]}: {amounts[accounts[0]]} wei</li>" in text
    assert accounts[99] in text and accounts[100] not in text
    assert "and 3 more" in text
    assert "more" not in operator.get(page_of(save(5))).context["adminform"].model_admin.first_entries(save(100))


def test_a_deletion_is_confirmed_and_says_what_it_breaks(operator):
    tree, kept = save(3, kind=TreeKind.ALLOWLIST), save(2)
    page = operator.get(remove_page(tree)).text
    assert f"no proofs here, for any presale with an allow-list of the root {tree.root}" in page
    assert "for any token with an airdrop of the root" in operator.get(remove_page(kept)).text
    assert SavedTree.objects.count() == 2
    with CaptureQueriesContext(connection) as queries:
        answer = operator.post(remove_page(tree), follow=True)
    # Neither the nodes nor the entries are read to delete them.
    assert not any("nodes" in query["sql"] for query in queries)
    assert not any('SELECT "tokens_savedairdropentry"' in query["sql"] for query in queries)
    assert messages(answer) == [f"3 entries, root {tree.root} deleted."]
    assert list(SavedTree.objects.values_list("pk", flat=True)) == [kept.pk]
    assert SavedTreeEntry.objects.count() == 2
    assert LogEntry.objects.get().action_flag == DELETION


def test_other_keys_with_the_same_entries_keep_the_proofs(operator):
    tree, _ = save(3), save(3, name="Other")
    text = "Proofs stay available: other keys have saved the same entries (1)."
    assert text in operator.get(remove_page(tree)).text


def test_a_reader_deletes_nothing(client):
    tree = save(1)
    reader = User.objects.create_user("reader", is_staff=True)
    reader.user_permissions.set(Permission.objects.filter(codename="view_savedtree"))
    client.force_login(reader)
    assert client.post(remove_page(tree)).status_code == 403
    assert "Delete" not in client.get(page_of(tree)).text
    assert SavedTree.objects.exists()
