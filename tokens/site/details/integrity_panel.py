"""Launch facts on a token's page: first buyers, bundles, largest holders, and the accounts behind the launch."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from tokens.installation.installed_registry import explorer_address_page, explorer_transaction_page
from tokens.integrity.report_fetching import fetch_report
from tokens.integrity.responses import DevAccountJson, LaunchHolder, LaunchShare, Purchases
from tokens.models import Token
from tokens.site.details.launch_terms import whole_amount

# The API has other lengths, too.
SECONDS = 60
BUNDLES_SHOWN = 5

ROLE_TEXTS: dict[str, str | Promise] = {
    "deployer": pgettext_lazy("role of an account", "sent the launch"),
    "requestor": pgettext_lazy("role of an account", "requested the launch"),
    "admin": pgettext_lazy("role of an account", "admin at launch"),
    "currentAdmin": pgettext_lazy("role of an account", "admin now"),
    "launchBuyer": pgettext_lazy("role of an account", "bought in the launch"),
}
KIND_TEXTS: dict[str, str | Promise] = {
    "sameTransaction": _("several in one transaction"),
    "consecutive": _("transactions next to one another"),
    "withLaunch": _("together with the launch"),
}
UNKNOWN_TEXTS: dict[str, str | Promise] = {
    "transfers": _("Transfers between accounts: an account may hold more or less than it bought."),
    "funders": _("Which buyers got their coins from the same account."),
    "transactionPlaces": _("Which transactions are neighbours in a block: the places of some are not stored."),
    "launchTrades": _("Whether there were earlier trades: the block of the launch was not read for trades."),
    "expiredTrades": _("The trades of the time of the launch: they are no longer stored."),
    "laterTrades": _("What happened after the first 5,000 trades. Later ones do not count here."),
    "traders": _("The accounts of some trades, which count for no account."),
    "claims": _("Older claims of fees, airdrop and vault, which do not count here."),
    "launchpadClaims": _("Claims of this launchpad's fees, airdrops and vaults, which do not count here."),
    "vaultRecipients": _("Who got the tokens that were taken out of the vault."),
    "supply": _("The supply of the token, so that there are no shares."),
    "balances": _("Balances on the chain."),
    "solanaBalances": _("Balances on the chain."),
}


@dataclass(frozen=True, kw_only=True)
class PanelShare:
    """Whole tokens, and percent of the supply; None if that is unknown."""

    amount: Decimal
    percent: float | None


@dataclass(frozen=True, kw_only=True)
class PanelAccount:
    """An account, its roles in the launch, and its balance from trades: at the launch, and after all trades."""

    address: str
    page: str | None
    roles: Sequence[str | Promise]
    is_dev: bool
    share: PanelShare
    later: PanelShare | None = None


@dataclass(frozen=True, kw_only=True)
class PanelPurchases:
    """Purchases with their sum; a bundle has kinds, and its first transaction's page if the chain has an explorer."""

    count: int
    buyers: int
    share: PanelShare
    kinds: Sequence[str | Promise] = ()
    block: int | None = None
    page: str | None = None


@dataclass(frozen=True, kw_only=True)
class IntegrityPanel:
    """Facts on the page; `bundles` has the first bundles, and `bundle_count` the number of all."""

    seconds: int
    counted: int
    dev_accounts: Sequence[PanelAccount]
    dev_at_launch: PanelShare
    dev_now: PanelShare
    first_block: PanelPurchases
    first_seconds: PanelPurchases
    bundle_count: int
    bundled: PanelShare
    bundles: Sequence[PanelPurchases]
    holders_at_launch: Sequence[PanelAccount]
    holders_now: Sequence[PanelAccount]
    unbought_sellers: int
    unbought: PanelShare
    unknown: Sequence[str | Promise]


def read_integrity(token: Token) -> IntegrityPanel:
    """Return the facts from a cached report, without balances. At most three queries, and no node request."""
    report = fetch_report(token, seconds=SECONDS)
    dev, holders, bundles = report["dev"], report["holders"], report["bundles"]
    unbought = report["soldWithoutPurchase"]
    return IntegrityPanel(
        seconds=SECONDS,
        counted=report["trades"]["counted"],
        dev_accounts=[_dev_account(token, each) for each in dev["accounts"]],
        dev_at_launch=_share(token, dev["atLaunch"]),
        dev_now=_share(token, dev["now"]),
        first_block=_purchases(token, report["firstBlock"]),
        first_seconds=_purchases(token, report["firstSeconds"]),
        bundle_count=bundles["count"],
        bundled=_share(token, bundles),
        bundles=[
            _purchases(token, bundle, kinds=bundle["kinds"], block=bundle["block"])
            for bundle in bundles["list"][:BUNDLES_SHOWN]
        ],
        holders_at_launch=[_holder(token, each) for each in holders["atLaunch"]],
        holders_now=[_holder(token, each) for each in holders["now"]],
        unbought_sellers=unbought["accounts"],
        unbought=_share(token, unbought),
        unknown=[UNKNOWN_TEXTS[each["fact"]] for each in report["unknown"]],
    )


def _share(token: Token, described: LaunchShare) -> PanelShare:
    return PanelShare(amount=whole_amount(token, described["amount"]), percent=described["percent"])


def _dev_account(token: Token, described: DevAccountJson) -> PanelAccount:
    return PanelAccount(
        address=described["account"],
        page=explorer_address_page(token.chain_id, described["account"]),
        roles=[ROLE_TEXTS[role] for role in described["roles"]],
        is_dev=True,
        share=_share(token, described["atLaunch"]),
        later=_share(token, described["now"]),
    )


def _holder(token: Token, described: LaunchHolder) -> PanelAccount:
    return PanelAccount(
        address=described["account"],
        page=explorer_address_page(token.chain_id, described["account"]),
        roles=(),
        is_dev=described["isDev"],
        share=_share(token, described),
    )


def _purchases(
    token: Token, described: Purchases, *, kinds: Sequence[str] = (), block: int | None = None
) -> PanelPurchases:
    first = described["purchases"][0] if described["purchases"] else None
    return PanelPurchases(
        count=described["count"],
        buyers=described["buyers"],
        share=_share(token, described),
        kinds=[KIND_TEXTS[kind] for kind in kinds],
        block=block,
        page=first and explorer_transaction_page(token.chain_id, first["txHash"]),
    )
