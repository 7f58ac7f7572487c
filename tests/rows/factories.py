"""Row factories. A test sets the fields that it is about; the rest is default."""

import secrets
import string
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TypeVar, get_args

import factory
from django.utils import timezone
from solders.pubkey import Pubkey
from solders.signature import Signature

from accounts.models import (
    Administrator,
    AdminSession,
    DeliveryReason,
    PartnerKey,
    PartnerKeySecret,
    Person,
    Scope,
    SocialProfile,
    WebhookDelivery,
    WebhookEndpoint,
)
from pretokens.body import normalize_keyword
from pretokens.models import Pretoken, PretokenState
from tokens.chains.addresses import checksum_address
from tokens.indexing.metadata import copy_key, parse_context, parse_metadata
from tokens.models import (
    ChainHead,
    Coverage,
    CoverageAlarm,
    DeployAttempt,
    Deployment,
    DeploymentStatus,
    DeployWallet,
    FeeClaim,
    FollowedAccount,
    FollowedBlock,
    IndexRequest,
    PoolBacklog,
    ProviderRefresh,
    SavedToken,
    SignedTransaction,
    Token,
    TokenDocument,
    TokenEvent,
    Upload,
)

Row = TypeVar("Row")


class _RowFactoryType(type(factory.django.DjangoModelFactory)):
    """Factories' metaclass: the base's parameter is the model."""

    def __new__(cls, name, bases, namespace):
        for base in namespace.get("__orig_bases__", ()):
            (model,) = get_args(base)
            namespace["Meta"] = type("Meta", (), {"abstract": True} if isinstance(model, TypeVar) else {"model": model})
        return super().__new__(cls, name, bases, namespace)


class RowFactory(factory.django.DjangoModelFactory[Row], metaclass=_RowFactoryType):
    """Factories' base, as `RowFactory[Model]`."""


class PartnerKeyFactory(RowFactory[PartnerKey]):
    """A partner key's row without a secret; `keys.add_secret` or `keys.rotate` gives it one and returns the text."""

    class Params:
        revoked = factory.Trait(revoked_at=factory.LazyFunction(timezone.now))
        expired = factory.Trait(expires_at=factory.LazyFunction(lambda: timezone.now() - timedelta(seconds=1)))

    name = factory.Sequence(lambda n: f"Partner {n}")
    scopes = factory.LazyFunction(lambda: [Scope.READ, Scope.INDEX])


class PartnerKeySecretFactory(RowFactory[PartnerKeySecret]):
    """A secret whose text is unknown."""

    partner_key = factory.SubFactory(PartnerKeyFactory)
    key_id = factory.LazyFunction(lambda: "".join(secrets.choice(string.ascii_letters) for _ in range(8)))
    digest = factory.LazyFunction(lambda: secrets.token_hex(32))


class WebhookEndpointFactory(RowFactory[WebhookEndpoint]):
    """An operators' endpoint, which gets all events."""

    url = factory.Sequence(lambda n: f"https://receiver-{n}.example/hook")


class WebhookDeliveryFactory(RowFactory[WebhookDelivery]):
    """A delivery that is due and was not attempted."""

    endpoint = factory.SubFactory(WebhookEndpointFactory)
    event_id = factory.Sequence(lambda n: 1 + n)
    event_type = "token.indexed"
    reason = DeliveryReason.EVENT


class SocialProfileFactory(RowFactory[SocialProfile]):
    """A profile that was fetched and is not due; `wanted=True` makes one that is due for the first time."""

    class Params:
        wanted = factory.Trait(
            username="",
            display_name="",
            fetched_at=None,
            due_at=factory.LazyFunction(lambda: timezone.now() - timedelta(seconds=1)),
        )

    fid = factory.Sequence(lambda n: 1_000_000 + n)
    username = factory.LazyAttribute(lambda profile: f"user-{profile.fid}")
    display_name = factory.LazyAttribute(lambda profile: f"User {profile.fid}")
    fetched_at = factory.LazyFunction(timezone.now)
    due_at = factory.LazyFunction(lambda: timezone.now() + timedelta(hours=1))


def _address() -> str:
    return checksum_address("0x" + secrets.token_hex(20))


def _hash() -> str:
    return "0x" + secrets.token_hex(32)


def _account() -> str:
    return str(Pubkey(secrets.token_bytes(32)))


def _signature() -> str:
    return str(Signature.from_bytes(secrets.token_bytes(64)))


class TokenFactory(RowFactory[Token]):
    """A listed v4 token on Base. `copy_key` follows from name and symbol, `deployed_at` rises with every token."""

    chain_id = 8453
    contract_address = factory.LazyFunction(_address)
    generation = "v4"
    tx_hash = factory.LazyFunction(_hash)
    log_index = 0
    block_number = factory.Sequence(lambda n: 1_000_000 + n)
    block_hash = factory.LazyFunction(_hash)
    last_indexed = factory.SelfAttribute("deployed_at")
    deployed_at = factory.Sequence(lambda n: datetime(2026, 1, 1, tzinfo=UTC) + timedelta(seconds=n))
    name = factory.Sequence(lambda n: f"Token {n}")
    symbol = factory.Sequence(lambda n: f"TKN{n}")
    supply = Decimal(10**29)
    admin = factory.LazyFunction(_address)
    msg_sender = factory.LazyFunction(_address)
    pool_address = factory.LazyFunction(_hash)
    paired_token = "0x4200000000000000000000000000000000000006"
    pair = "WETH"
    factory_address = "0xE85A59c628F7d27878ACeB4bf3b35733630083a9"
    metadata = factory.LazyFunction(lambda: parse_metadata(None))
    social_context = factory.LazyFunction(lambda: parse_context(None))
    deploy_config = factory.LazyFunction(
        lambda: {"devBuyAmount": "0", "lockupPercentage": 0, "vestingUnlockDate": None}
    )
    pool_config = factory.Dict(
        {"pairedToken": paired_token, "tickIfToken0IsNewToken": -230_400, "tickSpacing": 200, "hook": None}
    )
    extensions = factory.LazyFunction(
        lambda: dict.fromkeys(["fees", "vault", "airdrop", "devBuy", "sniperTax", "positions"])
    )
    copy_key = factory.LazyAttribute(lambda token: copy_key(token.name, token.symbol))


class SolanaTokenFactory(TokenFactory):
    """A listed token on Solana, paired with SOL."""

    chain_id = 101
    contract_address = factory.LazyFunction(_account)
    generation = "solana"
    tx_hash = factory.LazyFunction(_signature)
    block_hash = ""
    # A billion.
    supply = Decimal(10**15)
    decimals = 6
    admin = factory.LazyFunction(_account)
    msg_sender = factory.LazyFunction(_account)
    pool_address = factory.LazyFunction(_account)
    paired_token = "So11111111111111111111111111111111111111112"
    pair = "SOL"
    factory_address = "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN"
    pool_config = factory.Dict(
        {"pairedToken": paired_token, "tickIfToken0IsNewToken": None, "tickSpacing": None, "hook": None}
    )


class TokenDocumentFactory(RowFactory[TokenDocument]):
    """A token's document that is due for fetching now."""

    token = factory.SubFactory(TokenFactory)
    uri = factory.Sequence(lambda n: f"https://host.example/{n}.json")
    due_at = factory.LazyFunction(lambda: timezone.now() - timedelta(seconds=1))


class PoolBacklogFactory(RowFactory[PoolBacklog]):
    """A token pool's backlog that is due."""

    token = factory.SubFactory(TokenFactory)
    next_block = 1
    due_at = factory.LazyFunction(lambda: timezone.now() - timedelta(seconds=1))


class IndexRequestFactory(RowFactory[IndexRequest]):
    """A pending request that is due."""

    chain_id = 8453
    tx_hash = factory.LazyFunction(_hash)
    due_at = factory.LazyFunction(lambda: timezone.now() - timedelta(seconds=1))


class ProviderRefreshFactory(RowFactory[ProviderRefresh]):
    """A refresh by the market-data provider that is due."""

    token = factory.SubFactory(TokenFactory)


class TokenEventFactory(RowFactory[TokenEvent]):
    """A claim from Base's fee locker, in its own transaction; `at` rises with every event."""

    chain_id = 8453
    tx_hash = factory.LazyFunction(_hash)
    log_index = 0
    block_number = factory.Sequence(lambda n: 2_000_000 + n)
    block_hash = factory.LazyFunction(_hash)
    at = factory.Sequence(lambda n: datetime(2026, 2, 1, tzinfo=UTC) + timedelta(seconds=n))
    kind = "fees_claimed"
    emitter = "0xF3622742b1E446D92e45E22923Ef11C2fcD55D68"
    arguments = factory.LazyFunction(dict)


class FeeClaimFactory(RowFactory[FeeClaim]):
    """One claim's payment."""

    event = factory.SubFactory(TokenEventFactory)
    chain_id = factory.SelfAttribute("event.chain_id")
    at = factory.SelfAttribute("event.at")
    recipient = factory.LazyFunction(_address)
    currency = TokenFactory.paired_token
    amount = Decimal(10**15)


class ChainHeadFactory(RowFactory[ChainHead]):
    """A chain that is followed up to its head, which a node returned just now."""

    chain_id = 8453
    head = 3_000_000
    final = factory.LazyAttribute(lambda chain: chain.head - 900)
    followed = factory.SelfAttribute("head")
    head_at = factory.LazyFunction(timezone.now)
    seen_at = factory.LazyFunction(timezone.now)
    follower = "host-1:4711"


class FollowedBlockFactory(RowFactory[FollowedBlock]):
    """A block whose logs are written."""

    chain_id = 8453
    number = factory.Sequence(lambda n: 3_000_000 + n)
    hash = factory.LazyFunction(_hash)
    parent_hash = factory.LazyFunction(_hash)
    at = factory.LazyFunction(timezone.now)


class CoverageFactory(RowFactory[Coverage]):
    """Blocks that are followed for ever, each with another contract set."""

    chain_id = 8453
    addresses = factory.LazyFunction(lambda: sorted(_address().lower() for _ in range(2)))
    address_set = factory.LazyFunction(lambda: secrets.token_hex(32))
    first_block = 1_000_000
    followed_to = 3_000_000
    verified_to = factory.LazyAttribute(lambda row: max(row.first_block - 1, row.followed_to - 900))


class CoverageAlarmFactory(RowFactory[CoverageAlarm]):
    """Two launches in one transaction that a node had left out, and that are written since."""

    chain_id = 8453
    first_block = 2_000_000
    last_block = 2_000_999
    missing = 2
    invented = 0
    tx_hashes = factory.LazyFunction(lambda: [_hash()])
    repaired = True


class FollowedAccountFactory(RowFactory[FollowedAccount]):
    """A Solana account whose transactions are all read."""

    chain_id = 101
    address = factory.LazyFunction(_account)
    complete_to = 1000


class DeploymentFactory(RowFactory[Deployment]):
    """A partner's deployment on Base, with nothing signed yet."""

    partner_key = factory.SubFactory(PartnerKeyFactory)
    request_key = factory.LazyFunction(lambda: secrets.token_hex(16))
    body_digest = factory.LazyFunction(lambda: secrets.token_hex(32))
    chain_id = 8453
    config = factory.LazyFunction(lambda: {"token": {"name": "Dog", "symbol": "DOG"}})
    salt = factory.LazyFunction(_hash)
    to_address = TokenFactory.factory_address
    calldata = bytes.fromhex("df40224a")
    value = Decimal(0)
    gas = 5_000_000
    expected_address = factory.LazyFunction(_address)


class DeployWalletFactory(RowFactory[DeployWallet]):
    """A wallet on Base that can send, with one ether."""

    chain_id = 8453
    address = factory.LazyFunction(_address)
    signable = True
    balance = Decimal(10**18)
    balance_at = factory.LazyFunction(timezone.now)


class DeployAttemptFactory(RowFactory[DeployAttempt]):
    """A deployment's open attempt that was sent."""

    deployment = factory.SubFactory(DeploymentFactory, status=DeploymentStatus.SUBMITTED, attempts=1)
    wallet = factory.SubFactory(DeployWalletFactory)
    nonce = factory.Sequence(lambda n: n)


class SignedTransactionFactory(RowFactory[SignedTransaction]):
    """A signed version that was not sent to a node yet; its bytes are no transaction."""

    attempt = factory.SubFactory(DeployAttemptFactory)
    tx_hash = factory.LazyFunction(_hash)
    raw = b"\x02"
    max_fee = 2_000_000_000
    priority_fee = 1_000_000


class PersonFactory(RowFactory[Person]):
    """A user with a FID, and no identity."""

    class Params:
        # A subject that an identity token has just linked to its FID's person, which is given as `linked_to`.
        linked = factory.Trait(
            fid=None,
            told_at=factory.LazyFunction(timezone.now),
            linked_until=factory.LazyFunction(lambda: timezone.now() + timedelta(hours=1)),
        )

    fid = factory.Sequence(lambda n: 2_000_000 + n)


class AdministratorFactory(RowFactory[Administrator]):
    """A Quick Auth administrator."""

    name = factory.Sequence(lambda n: f"Administrator {n}")
    issuer = "https://auth.farcaster.xyz"
    subject = factory.Sequence(lambda n: str(1 + n))


class AdminSessionFactory(RowFactory[AdminSession]):
    """An administrator's live session, without a client that has its cookie."""

    digest = factory.Sequence(lambda n: f"{n:064x}")
    administrator = factory.SubFactory(AdministratorFactory)
    expires_at = factory.LazyFunction(lambda: timezone.now() + timedelta(hours=12))


class SavedTokenFactory(RowFactory[SavedToken]):
    """A token on Base that a user reported as launched; nothing is known about its transaction."""

    person = factory.SubFactory(PersonFactory)
    chain_id = 8453
    tx_hash = factory.LazyFunction(_hash)
    contract_address = factory.LazyFunction(_address)


class UploadFactory(RowFactory[Upload]):
    """A picture that a partner uploaded to the directory."""

    partner_key = factory.SubFactory(PartnerKeyFactory)
    digest = factory.Sequence(lambda n: f"{n:064x}")
    kind, storage, size = "picture", "directory", 7
    url = factory.LazyAttribute(lambda upload: f"https://files.example/{upload.digest}.webp")


class PretokenFactory(RowFactory[Pretoken]):
    """A pending pretoken on Base, made just now."""

    class Params:
        deleted = factory.Trait(state=PretokenState.DELETED, deleted_at=factory.LazyFunction(timezone.now))
        # Its row has no salt.
        overdue = factory.Trait(
            created_at=factory.LazyFunction(lambda: timezone.now() - timedelta(days=7, seconds=1)),
        )
        deployed = factory.Trait(state=PretokenState.DEPLOYED, deployment=factory.SubFactory(DeploymentFactory))

    owner = factory.SubFactory(PersonFactory)
    keyword = factory.Sequence(lambda n: f"Keyword {n}")
    keyword_key = factory.LazyAttribute(lambda pretoken: normalize_keyword(pretoken.keyword))
    chain_id = 8453
    body = factory.LazyAttribute(lambda pretoken: {"keyword": pretoken.keyword, "chain_id": pretoken.chain_id})
    size = 100
    created_at = factory.LazyFunction(timezone.now)
    expires_at = factory.LazyAttribute(lambda pretoken: pretoken.created_at + timedelta(days=7))
