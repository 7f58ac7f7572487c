"""Sign-in with a wallet: a signed message (EIP-4361) in exchange for a user token."""

from django.conf import settings
from django.utils import timezone
from django.utils.module_loading import import_string

from accounts.users import wallet_tokens
from accounts.users.sign_in_messages import InvalidMessageError, SignInMessage, check_message, parse_message
from accounts.users.wallet_tokens import IssuedToken
from config.http.errors import PermanentError
from config.processes.concurrency_limits import public_node_slot
from tokens.chains.evm.wallet_signatures import hash_text, is_accepted_by_contract, is_signed_by_key
from tokens.chains.rpc.client import RpcClient, query_deadline

# All calls to nodes for one sign-in, in seconds.
_NODE_SECONDS = 5.0


class SignInRefusedError(PermanentError):
    """Raised for an unknown, used or expired nonce, and for a signature that is not the wallet's."""


def sign_in(text: str, signature: bytes) -> IssuedToken:
    """Return a token for the wallet that signed the message; its nonce is then used up, whatever the decision.

    While no node decides, nothing is used up. Raises InvalidMessageError, SignInRefusedError, NodeUnavailableError,
    and BusyError.
    """
    message = parse_message(text)
    check_message(message, origins=(settings.SITE_URL, *settings.CORS_ALLOWED_ORIGINS), now=timezone.now())
    nodes: RpcClient | None = import_string(settings.EVM_NODES)(message.chain_id)
    if nodes is None:
        raise InvalidMessageError("must have the id of an EVM chain that this service reads")
    nonces = wallet_tokens.usable_nonces(message.nonce)
    # A message without a nonce of ours calls no node.
    if not nonces.exists():
        raise SignInRefusedError("the nonce is unknown, used or expired")
    subject = _verify_signature(message, hash_text(text), signature, nodes=nodes)
    # One of several concurrent requests deletes it.
    if not nonces.delete()[0] or subject is None:
        raise SignInRefusedError("the signature is not the wallet's, or the nonce is used")
    return wallet_tokens.issue_token(subject)


def _verify_signature(message: SignInMessage, digest: bytes, signature: bytes, *, nodes: RpcClient) -> str | None:
    """Return the wallet as a token's subject: the address of a key, which is the same on every chain.

    A contract's address may have another owner on another chain, so that its subject has the chain, too (CAIP-10).
    None if the signature is not the wallet's.
    """
    if is_signed_by_key(message.address, digest, signature):
        return message.address
    with public_node_slot(timeout=0), query_deadline(_NODE_SECONDS):
        is_accepted = is_accepted_by_contract(nodes, message.address, digest, signature)
    return f"eip155:{message.chain_id}:{message.address}" if is_accepted else None
