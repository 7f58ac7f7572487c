"""pretokens/conversion.py: pretokens' deployments, by the command and by concurrent calls."""

import uuid
from functools import partial
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from development.devchain.anvil import CHAIN_ID
from pretokens import conversion, lifecycle
from pretokens.models import Pretoken, PretokenState
from tests.nodes.relay import relay
from tests.processes.at_once import call_at_once
from tests.rows.airdrop_entries import sample_entries
from tests.rows.factories import DeployWalletFactory, PersonFactory, PretokenFactory
from tests.rows.launch_requests import ADMIN, WALLET, pretoken
from tokens.deploying import accept
from tokens.deploying.sending import submit
from tokens.models import AirdropTree, Deployment, DeploymentStatus, DeploySwitch, Token

pytestmark = pytest.mark.django_db


@pytest.fixture
def ready(launchpad):
    """Return the service with a chain and a wallet that can send."""
    DeployWalletFactory(chain_id=CHAIN_ID, address=WALLET)
    return launchpad


def create(body=None):
    """Create a pretoken from a body."""
    return lifecycle.create_pretoken(body or pretoken(), person_id=PersonFactory().pk)


def deploy_output(pretoken_id):
    """Run the command and return its output."""
    out = StringIO()
    call_command("deploy_pretoken", str(pretoken_id), stdout=out)
    return out.getvalue()


def refused(pretoken_id):
    with pytest.raises(CommandError) as caught:
        deploy_output(pretoken_id)
    return str(caught.value)


@pytest.mark.parametrize("columns", [{"deleted": True}, {"deployed": True}, {"overdue": True}, {"state": "expired"}])
def test_only_what_is_pending_is_deployed(ready, columns):
    row = PretokenFactory(**columns)
    before = (Pretoken.objects.values().get(), Deployment.objects.count())
    assert "only a pending pretoken" in refused(row.pk)
    assert (Pretoken.objects.values().get(), Deployment.objects.count()) == before


def test_an_unknown_one_is_refused(ready):
    assert "only a pending pretoken" in refused(uuid.uuid4())


def test_it_is_read_anew_since_rules_may_have_changed(ready):
    row = create()
    Pretoken.objects.update(body=pretoken(settings={"admins": []}))
    assert refused(row.pk) == "Not deployed: token_settings.admins must be a list of 1 to 7 entries"
    assert (Pretoken.objects.get().state, Deployment.objects.count()) == (PretokenState.PENDING, 0)


def test_without_a_wallet_that_sends_it_stays_pending(launchpad, settings):
    settings.DEPLOYER_KEYS = settings.DEPLOYER_KEYSTORES = settings.DEPLOYER_REMOTE = {}
    row = create()
    assert "no wallet" in refused(row.pk)
    assert (Pretoken.objects.get().state, Deployment.objects.count()) == (PretokenState.PENDING, 0)


def test_while_the_chain_is_paused_it_stays_pending(ready, queue):
    row = create()
    DeploySwitch.objects.create(chain_id=CHAIN_ID, paused=True)
    assert "are paused" in refused(row.pk)
    assert (Pretoken.objects.get().state, Deployment.objects.count(), queue()) == (PretokenState.PENDING, 0, [])


def test_what_its_owner_deletes_meanwhile_is_not_deployed(ready):
    row = create()
    prepared = conversion.prepare_launch(row.pk)
    assert lifecycle.delete_pretoken(row.pk, person_ids=[row.owner_id])
    with pytest.raises(conversion.NotPendingError):
        conversion.create_deployment(prepared)
    assert (Pretoken.objects.get().state, Deployment.objects.count()) == (PretokenState.DELETED, 0)


def test_it_becomes_a_deployment_of_the_operators_own(ready):
    row = create(pretoken(vault_settings={"percentage": 10, "lockupDuration": 7}, settings={"symbol": "WOW"}))
    text = deploy_output(row.pk)
    order = Deployment.objects.get()
    row.refresh_from_db()
    assert (row.state, row.deployment) == (PretokenState.DEPLOYED, order)
    assert (order.partner_key, order.request_key, order.status) == (None, row.pk.hex, DeploymentStatus.ENQUEUED)
    token = order.config["token"]
    assert (token["symbol"], token["tokenAdmin"], order.config["vault"]["percentage"]) == ("WOW", ADMIN, 10)
    assert order.expected_address in text and row.pk.hex in text
    assert submit.chains_with_unsent() == [CHAIN_ID]
    assert "only a pending pretoken" in refused(row.pk)
    assert Deployment.objects.count() == 1


def test_its_token_is_launched_by_one_of_our_wallets_and_listed(ground):
    row = create()
    order = conversion.create_deployment(conversion.prepare_launch(row.pk))
    assert submit.submit_deployment(order.pk)
    ground.mine()
    ground.watch()
    token = Token.objects.get()
    assert (token.contract_address, token.symbol, token.admin) == (order.expected_address, "DOGE", ADMIN)
    assert Pretoken.objects.get().deployment.status == DeploymentStatus.INDEXED


def test_its_airdrop_is_kept_for_claims(ready):
    entries = [{"account": account, "amount": str(10**27)} for account, _ in sample_entries(3)]
    row = create(pretoken(airdrop={"entries": entries, "lockupDuration": 1}))
    assert not AirdropTree.objects.exists()
    deploy_output(row.pk)
    assert AirdropTree.objects.get().deployment == Pretoken.objects.get().deployment


@pytest.mark.django_db(transaction=True)
def test_concurrent_calls_make_one_deployment(ready):
    row = create()
    prepared = [conversion.prepare_launch(row.pk) for _ in range(6)]
    calls = [partial(conversion.create_deployment, launch) for launch in prepared]
    came = call_at_once(calls, errors=(conversion.NotPendingError,))
    assert sorted(type(result).__name__ for result in came) == ["Deployment"] + ["NotPendingError"] * 5
    assert Pretoken.objects.get().deployment == Deployment.objects.get()


@pytest.mark.django_db(transaction=True)
def test_what_was_deleted_first_is_reported_as_such_though_its_launch_would_be_reverted_by_now(
    ready, settings, forget_chains
):
    row = create()

    def delete_it_first(sent):
        lifecycle.delete_pretoken(row.pk, person_ids=[row.owner_id])
        connection.close()

    def revert(sent, answer):
        # The simulation is the one batch.
        if not isinstance(sent, list):
            return answer
        error = {"code": 3, "message": "execution reverted", "data": "0x"}
        return [{"jsonrpc": "2.0", "id": call["id"], "error": error} for call in sent]

    with relay(ready.deployment.rpc_url, before=delete_it_first, change=revert) as url:
        settings.RPC_URLS = {CHAIN_ID: (url,)}
        forget_chains()
        with pytest.raises(conversion.NotPendingError):
            conversion.prepare_launch(row.pk)


def test_its_key_belongs_to_no_partner(ready, deploy_key):
    row = create()
    deploy_output(row.pk)
    body = {"token": {"name": "a", "symbol": "b", "tokenAdmin": ADMIN, "requestKey": row.pk.hex}, "chainId": CHAIN_ID}
    with pytest.raises(accept.RequestKeyConflictError):
        accept.accept_deployment(body, partner=None)
