"""Sign-ins by contract wallets, deployed and not, on the development chain (EIP-1271, EIP-6492)."""

from functools import partial

import pytest

from accounts.models import Identity, SignInNonce
from config.environment.issuers import read_issuers
from config.processes.concurrency_limits import public_node_slot
from development.devchain.anvil import CHAIN_ID
from development.devchain.node_client import connect, load_artifact
from tests.accounts.users import wallets
from tests.accounts.users.wallets import KEY, OTHER_KEY, SITE, message, new_nonce, post_sign_in, sign, wrapped
from tests.nodes.relay import NoResponseError, relay
from tests.rows.user_tokens import bearer
from tokens.chains.evm import wallet_signatures

pytestmark = pytest.mark.django_db

MISBEHAVIORS = (wallets.WRONG_VALUE, wallets.REVERTS, wallets.BURNS_GAS, wallets.LONG_RESULT, wallets.ECHO)


@pytest.fixture(autouse=True)
def sign_in_on(launchpad, settings):
    settings.SITE_URL, settings.RATE_LIMIT_SIGN_IN = SITE, 1_000
    settings.IDENTITY_ISSUERS = read_issuers({"WALLET_SIGN_IN": "true"}, site_url=SITE)


@pytest.fixture(scope="module")
def factory(deployment):
    return wallets.deploy_factory(deployment.rpc_url)


def attempt(client, address, make_signature=sign):
    """Sign in as a contract wallet, by its owner's key unless another signature is made."""
    text = message(nonce=new_nonce(client), address=address)
    return post_sign_in(client, text, make_signature(text))


def subject_of(client, answer):
    """Return whom the token identifies."""
    assert answer.status_code == 200, answer.content
    assert client.get("/api/pretoken/pending", headers=bearer(answer.json()["token"])).status_code == 200
    return Identity.objects.get(issuer="wallet").subject


def test_the_check_is_the_compiled_contract():
    assert load_artifact("SignatureCheck").bytecode == wallet_signatures._CHECK


def test_a_contract_signs_in_on_its_chain(client, deployment, factory):
    address = wallets.deploy_wallet(deployment.rpc_url, factory)
    assert subject_of(client, attempt(client, address)) == f"eip155:{CHAIN_ID}:{address}"


def test_a_contract_that_is_not_deployed_signs_in_and_stays_so(client, deployment, factory):
    key = wallets.Account.create()
    address, call = wallets.wallet_address(factory, key=key), wallets.deployment_call(factory, key=key)

    def wrap(text):
        return wrapped(sign(text, key), factory=factory.address, call=call)

    assert attempt(client, address, lambda text: sign(text, key)).status_code == 401
    assert subject_of(client, attempt(client, address, wrap)) == f"eip155:{CHAIN_ID}:{address}"
    assert not connect(deployment.rpc_url).eth.get_code(address)
    # After its deployment, both forms are accepted.
    wallets.deploy_wallet(deployment.rpc_url, factory, key=key)
    assert attempt(client, address, wrap).status_code == 200
    assert attempt(client, address, lambda text: sign(text, key)).status_code == 200


@pytest.mark.parametrize("behavior", MISBEHAVIORS)
def test_no_contract_that_misbehaves_signs_in(client, deployment, factory, behavior):
    address = wallets.deploy_wallet(deployment.rpc_url, factory, behavior)
    call = wallets.deployment_call(factory, behavior)
    assert attempt(client, address).status_code == 401
    wrap = attempt(client, address, lambda text: wrapped(sign(text), factory=factory.address, call=call))
    assert wrap.status_code == 401
    # The node is not to blame for it, and still decides.
    assert attempt(client, wallets.deploy_wallet(deployment.rpc_url, factory)).status_code == 200


@pytest.mark.parametrize("behavior", MISBEHAVIORS)
def test_no_contract_that_would_misbehave_signs_in(client, factory, behavior):
    key = wallets.Account.create()
    address, call = wallets.wallet_address(factory, behavior, key), wallets.deployment_call(factory, behavior, key)
    answer = attempt(client, address, lambda text: wrapped(sign(text, key), factory=factory.address, call=call))
    assert answer.status_code == 401


# Name -> a signature as the honest wallet of KEY, which is deployed, or the one of OTHER_KEY, which is not.
FORGERIES = {
    "another key": lambda text, factory: sign(text, OTHER_KEY),
    "another key in a wrapper": lambda text, factory: wrapped(
        sign(text, OTHER_KEY), factory=factory.address, call=wallets.deployment_call(factory)
    ),
    "a wrapper around a wrapper": lambda text, factory: wrapped(
        wrapped(sign(text), factory=factory.address, call="0x"), factory=factory.address, call="0x"
    ),
    "nothing": lambda text, factory: b"",
    "the end of a wrapper only": lambda text, factory: wallets.WRAPPER_END,
    "a wrapper of garbage": lambda text, factory: b"\xff" * 96 + wallets.WRAPPER_END,
    "a wrapper with far offsets": lambda text, factory: (b"\0" * 31 + b"\xff") * 3 + wallets.WRAPPER_END,
    "a factory without code": lambda text, factory: wrapped(sign(text, OTHER_KEY), factory=KEY.address, call="0x"),
    "a factory that deploys another wallet": lambda text, factory: wrapped(
        sign(text, wallets.Account.from_key("0x" + "44" * 32)),
        factory=factory.address,
        call=wallets.deployment_call(factory, key=wallets.Account.from_key("0x" + "44" * 32)),
    ),
    "a factory that reverts": lambda text, factory: wrapped(
        sign(text, OTHER_KEY), factory=factory.address, call="0xdeadbeef"
    ),
    "the wallet as its factory": lambda text, factory: wrapped(
        sign(text, OTHER_KEY), factory=wallets.wallet_address(factory), call="0x"
    ),
}


@pytest.mark.parametrize("attack", FORGERIES)
def test_no_forged_signature_is_a_contracts(client, deployment, factory, attack):
    deployed = wallets.deploy_wallet(deployment.rpc_url, factory)
    for address in (deployed, wallets.wallet_address(factory, key=OTHER_KEY), factory.address):
        answer = attempt(client, address, lambda text: FORGERIES[attack](text, factory))
        assert answer.status_code == 401, address


def test_no_signature_of_one_contract_is_anothers(client, deployment, factory):
    # Both wallets have one owner: the message names one of them.
    deployed = wallets.deploy_wallet(deployment.rpc_url, factory)
    signed_text = message(nonce=new_nonce(client), address=KEY.address)
    assert attempt(client, deployed, lambda text: sign(signed_text)).status_code == 401
    assert (
        attempt(client, KEY.address, lambda text: wrapped(sign(text), factory=KEY.address, call="0x")).status_code
        == 401
    )


@pytest.mark.parametrize("number", range(1, 10))
def test_no_precompiled_contract_signs_in(client, number):
    # The fourth one returns its input, which begins with the accepted value.
    assert attempt(client, f"0x{number:040x}", lambda text: b"").status_code == 401


def test_while_no_node_responds_it_is_503_and_the_nonce_stays(client, deployment, factory, settings, forget_chains):
    address, blocked = wallets.deploy_wallet(deployment.rpc_url, factory), [True]

    def forward_unless_blocked(request, forward):
        if blocked:
            raise NoResponseError
        return forward(request)

    with relay(deployment.rpc_url, instead=forward_unless_blocked) as url:
        settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN_ID: (url,)}, 1
        forget_chains()
        text = message(nonce=new_nonce(client), address=address)
        answer = post_sign_in(client, text, sign(text))
        assert (answer.status_code, answer.json()) == (503, {"error": "The chain is not available"})
        assert answer.headers["Retry-After"] == "5" and SignInNonce.objects.exists()
        # A key needs no node.
        of_key = message(nonce=new_nonce(client))
        assert post_sign_in(client, of_key, sign(of_key)).status_code == 200
        blocked.clear()
        forget_chains()
        assert [post_sign_in(client, text, sign(text)).status_code for _ in range(2)] == [200, 401]


def replace_result(result, request, response):
    """Return the node's response, with this result if the request is an `eth_call`."""
    is_call = isinstance(request, dict) and request["method"] == "eth_call"
    return response | {"result": result} if is_call else response


ANSWERS = ["0x", "0x01", "0x1626ba7e", "0x" + "1626ba7e" * 8, "0x" + "00" * 31 + "01", "0x" + "ff" * 32]


@pytest.mark.parametrize("result", ANSWERS)
def test_only_the_whole_word_is_accepted(client, deployment, settings, forget_chains, result):
    with relay(deployment.rpc_url, change=partial(replace_result, result)) as url:
        settings.RPC_URLS = {CHAIN_ID: (url,)}
        forget_chains()
        assert attempt(client, OTHER_KEY.address).status_code == 401


@pytest.mark.parametrize("result", [None, True, 1, "1626ba7e" + "00" * 28, "0x1", {}])
def test_a_malformed_answer_is_503(client, deployment, settings, forget_chains, result):
    with relay(deployment.rpc_url, change=partial(replace_result, result)) as url:
        settings.RPC_URLS, settings.RPC_ATTEMPTS = {CHAIN_ID: (url,)}, 1
        forget_chains()
        assert attempt(client, OTHER_KEY.address).status_code == 503


def test_a_message_without_a_nonce_of_ours_calls_no_node(client, deployment, settings, forget_chains):
    calls = []
    with relay(deployment.rpc_url, before=calls.append) as url:
        settings.RPC_URLS = {CHAIN_ID: (url,)}
        forget_chains()
        text = message(address=OTHER_KEY.address)
        assert post_sign_in(client, text, sign(text)).status_code == 401
        assert not calls


def test_it_is_refused_at_once_beside_another_public_call_to_a_node(client):
    with public_node_slot():
        answer = attempt(client, OTHER_KEY.address)
        assert (answer.status_code, answer.json()) == (503, {"error": "Too many concurrent calls to the chain"})
        assert attempt(client, KEY.address).status_code == 200
    assert attempt(client, OTHER_KEY.address).status_code == 401
