"""What the operators' page of a deployment shows of it, in which order: lines that are no column.

They need the row as `DeploymentAdmin` reads it for its page: with its token, its partner key and its sizes.
"""

from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.db.models import Model, Prefetch
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from config.operators.admin_pages import change_page
from tokens.admin.token_fields import pretty_json
from tokens.chains.launching.merkle import NODE_BYTES
from tokens.installation import installed_chains
from tokens.installation.installed_chains import registry
from tokens.models import DeployAttempt, Deployment, SignedTransaction

_WEI = 10**18
_GWEI = 10**9

# Without their bytes, in the order in which they were signed.
VERSIONS = Prefetch("versions", SignedTransaction.objects.defer("raw").order_by("pk"))

# A Deployment with the annotations of `DeploymentAdmin.get_queryset`.
ShownDeployment = Any


def coins(wei: Decimal | int, chain_id: int) -> str:
    """An amount of the chain's native coin, exact but for what is below a millionth of it, which is left out."""
    chain = registry().chains.get(chain_id)
    whole, rest = divmod(int(wei), _WEI)
    return f"{whole:,}.{rest // 10**12:06d} {chain.native if chain else 'native'}"


def gwei(wei: int) -> str:
    """A price of gas."""
    return f"{wei / _GWEI:,.9f}".rstrip("0").rstrip(".") + " gwei"


def outward(page: str | None, text: str) -> str:
    """A text that leads to a page of a block explorer, where there is one."""
    if page is None or not text:
        return text
    return format_html('<a class="text-link" href="{}" rel="noopener noreferrer" target="_blank">{}</a>', page, text)


def inward(row: Model, text: str) -> str:
    """A text that leads to the page of a row."""
    return format_html('<a class="text-link" href="{}">{}</a>', change_page(row), text or "(no name)")


def transaction(chain_id: int, tx_hash: str) -> str:
    """The hash of a transaction, which leads to the explorer."""
    return outward(installed_chains.transaction_page(chain_id, tx_hash), tx_hash)


@admin.display(description="partner")
def partner(deployment: Deployment) -> str:
    """A link to the key that ordered it."""
    if deployment.partner_key is None:
        return "none: an operator's own"
    return inward(deployment.partner_key, str(deployment.partner_key))


@admin.display(description="expected address")
def expected_address(deployment: Deployment) -> str:
    if not deployment.expected_address:
        return "not known yet: its presale decides"
    page = installed_chains.token_page(deployment.chain_id, deployment.expected_address)
    return outward(page, deployment.expected_address)


@admin.display(description="token")
def token(deployment: Deployment) -> str:
    """Links to the token's page here and to its public one."""
    launched = deployment.token
    if launched is None:
        return "not listed"
    page = reverse("token-page", args=[launched.chain_id, launched.contract_address])
    return format_html('{} (<a class="text-link" href="{}">public page</a>)', inward(launched, launched.symbol), page)


@admin.display(description="transaction")
def newest_transaction(deployment: Deployment) -> str:
    return transaction(deployment.chain_id, deployment.tx_hash) or "none yet"


@admin.display(description="contract")
def contract(deployment: Deployment) -> str:
    return outward(installed_chains.address_page(deployment.chain_id, deployment.to_address), deployment.to_address)


@admin.display(description="sends")
def sends(deployment: Deployment) -> str:
    return coins(deployment.value, deployment.chain_id)


@admin.display(description="calldata")
def calldata_size(deployment: ShownDeployment) -> str:
    return f"{deployment.calldata_bytes:,} bytes"


@admin.display(description="airdrop")
def airdrop(deployment: ShownDeployment) -> str:
    """Its root, and of how many entries it is."""
    if deployment.airdrop_bytes is None:
        return "none"
    # Of n entries there are 2n - 1 nodes.
    entries = (deployment.airdrop_bytes // NODE_BYTES + 1) // 2
    return f"{entries:,} entries, root {deployment.airdrop_root}"


@admin.display(description="configuration")
def configuration(deployment: Deployment) -> str:
    """As it was ordered, with every default."""
    return pretty_json(deployment.config)


@admin.display(description="wallet")
def attempt_wallet(attempt: DeployAttempt) -> str:
    return inward(attempt.wallet, attempt.wallet.address)


@admin.display(description="signed versions")
def versions(attempt: DeployAttempt) -> str:
    """Each signed version of an attempt, oldest first: its transaction, what it offers, and what nodes said to it."""
    rows = format_html_join(
        "",
        "<li>{} {}: up to {}, tip {}; {}</li>",
        (
            (
                version.get_purpose_display(),
                transaction(attempt.wallet.chain_id, version.tx_hash),
                gwei(version.max_fee),
                gwei(version.priority_fee),
                f"sent {version.sent_at:%Y-%m-%d %H:%M:%S} UTC: {version.answer}"
                if version.sent_at
                else "not sent yet",
            )
            for version in attempt.versions.all()
        ),
    )
    return format_html("<ul>{}</ul>", rows) if rows else "none"


def purpose(attempt: DeployAttempt) -> str:
    """The deployment that a nonce is used for, if any."""
    if attempt.deployment is None:
        return "nothing but to use the nonce up"
    return inward(attempt.deployment, attempt.deployment.request_key)


@admin.display(description="mined as")
def mined(attempt: DeployAttempt) -> str:
    """The version that is in a block, and in which."""
    if not attempt.tx_hash:
        return ""
    return format_html("{} in block {}", transaction(attempt.wallet.chain_id, attempt.tx_hash), attempt.block_number)


@admin.display(description="cost")
def cost(attempt: DeployAttempt) -> str:
    """What the attempt's gas cost, once it is mined."""
    if attempt.gas_used is None or attempt.gas_price is None:
        return ""
    return f"{attempt.gas_used:,} gas, {coins(attempt.gas_used * attempt.gas_price, attempt.wallet.chain_id)}"


def fieldsets() -> tuple[tuple[str, dict[str, Any]], ...]:
    """A deployment's page as Django wants it."""
    times = ("created_at", "updated_at", "final_at")
    return (
        ("Order", {"fields": ("request_key", partner, "chain", "status", "error", "attempts", *times)}),
        ("Token", {"fields": (expected_address, token, newest_transaction, "presale_id", airdrop)}),
        ("Call", {"fields": (contract, sends, "gas", "salt", calldata_size, "body_digest")}),
        ("As ordered", {"fields": (configuration,)}),
    )
