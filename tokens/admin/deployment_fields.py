"""Fieldsets and computed fields for a deployment's admin page.

They need the row as `DeploymentAdmin` reads it: with its token, its partner key and its sizes.
"""

from decimal import Decimal
from typing import Any

from django.contrib import admin
from django.db.models import Model, Prefetch
from django.urls import reverse
from django.utils.html import format_html, format_html_join

from config.operators.admin_pages import change_url
from config.operators.local_times import local_time
from tokens.admin.token_fields import pretty_json
from tokens.chains.launching.merkle import NODE_BYTES
from tokens.installation import installed_registry
from tokens.installation.installed_registry import registry
from tokens.models import DeployAttempt, Deployment, SignedTransaction

_WEI = 10**18
_GWEI = 10**9

# Signed transactions without their bytes, in signing sequence.
VERSIONS = Prefetch("versions", SignedTransaction.objects.defer("raw").order_by("pk"))

# A Deployment with the annotations that `DeploymentAdmin.get_queryset` adds.
ShownDeployment = Any


def format_native_amount(wei: Decimal | int, chain_id: int) -> str:
    """Format an amount in the chain's native coin, truncated to six decimals."""
    chain = registry().chains.get(chain_id)
    coins, fraction = divmod(int(wei), _WEI)
    return f"{coins:,}.{fraction // 10**12:06d} {chain.native if chain else 'native'}"


def format_gwei(wei: int) -> str:
    """Format a gas price."""
    return f"{wei / _GWEI:,.9f}".rstrip("0").rstrip(".") + " gwei"


def explorer_link(page: str | None, text: str) -> str:
    """Return a text with a link to a block explorer page, if there is one."""
    if page is None or not text:
        return text
    return format_html('<a class="text-link" href="{}" rel="noopener noreferrer" target="_blank">{}</a>', page, text)


def admin_link(row: Model, text: str) -> str:
    """Return a text with a link to a row's admin page."""
    return format_html('<a class="text-link" href="{}">{}</a>', change_url(row), text or "(no name)")


def transaction_link(chain_id: int, tx_hash: str) -> str:
    """Return a transaction hash with a link to the explorer."""
    return explorer_link(installed_registry.explorer_transaction_page(chain_id, tx_hash), tx_hash)


@admin.display(description="partner")
def partner(deployment: Deployment) -> str:
    """Return a link to the deployment's partner key."""
    if deployment.partner_key is None:
        return "none: an operator's own"
    return admin_link(deployment.partner_key, str(deployment.partner_key))


@admin.display(description="expected address")
def expected_address(deployment: Deployment) -> str:
    if not deployment.expected_address:
        return "unknown until its presale ends"
    page = installed_registry.explorer_token_page(deployment.chain_id, deployment.expected_address)
    return explorer_link(page, deployment.expected_address)


@admin.display(description="token")
def token(deployment: Deployment) -> str:
    """Return links to the token's admin page and to its public page."""
    launched = deployment.token
    if launched is None:
        return "not listed"
    page = reverse("token-page", args=[launched.chain_id, launched.contract_address])
    return format_html(
        '{} (<a class="text-link" href="{}">public page</a>)', admin_link(launched, launched.symbol), page
    )


@admin.display(description="transaction")
def newest_transaction(deployment: Deployment) -> str:
    return transaction_link(deployment.chain_id, deployment.tx_hash) or "none yet"


@admin.display(description="contract")
def contract(deployment: Deployment) -> str:
    return explorer_link(
        installed_registry.explorer_address_page(deployment.chain_id, deployment.to_address), deployment.to_address
    )


@admin.display(description="sends")
def sends(deployment: Deployment) -> str:
    return format_native_amount(deployment.value, deployment.chain_id)


@admin.display(description="calldata")
def calldata_size(deployment: ShownDeployment) -> str:
    return f"{deployment.calldata_bytes:,} bytes"


@admin.display(description="airdrop")
def airdrop(deployment: ShownDeployment) -> str:
    """Return the airdrop's number of entries and Merkle root."""
    if deployment.airdrop_bytes is None:
        return "none"
    # A tree with n entries has 2n - 1 nodes.
    entries = (deployment.airdrop_bytes // NODE_BYTES + 1) // 2
    return f"{entries:,} entries, root {deployment.airdrop_root}"


@admin.display(description="configuration")
def configuration(deployment: Deployment) -> str:
    """Return the launch request's configuration, with all defaults."""
    return pretty_json(deployment.config)


@admin.display(description="wallet")
def attempt_wallet(attempt: DeployAttempt) -> str:
    return admin_link(attempt.wallet, attempt.wallet.address)


@admin.display(description="signed versions")
def versions(attempt: DeployAttempt) -> str:
    """Return an attempt's signed versions, oldest first: transaction, fees and the nodes' response."""
    rows = format_html_join(
        "",
        "<li>{} {}: up to {}, tip {}; {}</li>",
        (
            (
                version.get_purpose_display(),
                transaction_link(attempt.wallet.chain_id, version.tx_hash),
                format_gwei(version.max_fee),
                format_gwei(version.priority_fee),
                f"sent {local_time(version.sent_at, 'seconds')}: {version.error}"
                if version.sent_at
                else "not sent yet",
            )
            for version in attempt.versions.all()
        ),
    )
    return format_html("<ul>{}</ul>", rows) if rows else "none"


def purpose(attempt: DeployAttempt) -> str:
    """Return a link to the deployment that uses the nonce, if any."""
    if attempt.deployment is None:
        return "none, only fills the nonce"
    return admin_link(attempt.deployment, attempt.deployment.request_key)


@admin.display(description="mined as")
def mined(attempt: DeployAttempt) -> str:
    """Return the mined version and its block number."""
    if not attempt.tx_hash:
        return ""
    return format_html(
        "{} in block {}", transaction_link(attempt.wallet.chain_id, attempt.tx_hash), attempt.block_number
    )


@admin.display(description="cost")
def cost(attempt: DeployAttempt) -> str:
    """Return a mined attempt's gas cost."""
    if attempt.gas_used is None or attempt.gas_price is None:
        return ""
    paid = format_native_amount(attempt.gas_used * attempt.gas_price, attempt.wallet.chain_id)
    return f"{attempt.gas_used:,} gas, {paid}"


def fieldsets() -> tuple[tuple[str, dict[str, Any]], ...]:
    """Return a deployment's fieldsets in Django's format."""
    times = ("created_at", "updated_at", "final_at")
    return (
        ("Deployment", {"fields": ("request_key", partner, "chain", "status", "error", "attempts", *times)}),
        ("Token", {"fields": (expected_address, token, newest_transaction, "presale_id", airdrop)}),
        ("Call", {"fields": (contract, sends, "gas", "salt", calldata_size, "body_digest")}),
        ("As requested", {"fields": (configuration,)}),
    )
