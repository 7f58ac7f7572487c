"""Examples for the integrators' page: runnable files, with this installation's addresses put in."""

import re
from dataclasses import dataclass
from datetime import timedelta
from functools import cache

from django.conf import settings
from django.db.models import F
from django.db.models.lookups import IsNull
from django.utils import timezone
from django.utils.translation import gettext_lazy

from accounts.users.identity import find_issuer
from config.environment.issuers import WALLET_ISSUER
from config.environment.variables import BASE_DIR
from tokens.installation.installed_registry import evm_chain_ids, launching_chains
from tokens.models import Token

# Number of newest tokens that may be the token in the examples.
_CANDIDATES = 500

_FILES = BASE_DIR / "templates" / "site" / "docs_examples"
# Language code -> language name and file suffix.
LANGUAGES = {"curl": ("curl", ".sh"), "python": ("Python", ".py"), "typescript": ("TypeScript", ".ts")}

# Texts in the files that this installation's URL, its token and yesterday's date replace.
_PLACEHOLDERS = re.compile(
    r"https://launchboard\.example|0x0{39}1(?![0-9a-f])|0x0{63}2|0x0{39}3(?![0-9a-f])|0x42(?:0{37})6|\b8453\b|\b977\b"
    r"|2025-01-01"
)
_BASE, _ADDRESS, _TX_HASH, _CHAIN_ID = "https://launchboard.example", f"0x{1:040}", f"0x{2:064}", "8453"
_CREATOR, _FID, _DAY = f"0x{3:040}", "977", "2025-01-01"
# WETH on the files' chain.
_PAIRED = "0x4200000000000000000000000000000000000006"


@dataclass(frozen=True)
class Example:
    """One task in one language."""

    language: str
    name: str
    code: str


@dataclass(frozen=True)
class Task:
    """A task for an integrator, with its examples."""

    slug: str
    title: str
    text: str
    examples: tuple[Example, ...]


@dataclass(frozen=True)
class TaskGroup:
    """Tasks about one subject."""

    title: str
    tasks: tuple[Task, ...]


# Title -> slugs.
_GROUPS = (
    (gettext_lazy("Tokens"), ("newest", "search", "token", "prices", "trades", "integrity")),
    (gettext_lazy("Users and creators"), ("users", "creator")),
    (gettext_lazy("Launches"), ("launch", "uploads", "airdrops", "presales")),
    (gettext_lazy("Wallets"), ("transactions", "signin")),
    (gettext_lazy("Charts and feeds"), ("bars", "screener", "tools", "daily")),
    (gettext_lazy("Changes"), ("events", "stream", "webhook", "index")),
    (gettext_lazy("Agents"), ("mcp",)),
)
# Slug -> title and text.
_TASKS = {
    "newest": (
        gettext_lazy("List the newest tokens"),
        gettext_lazy("No key is needed. The answer has a cursor for the next page."),
    ),
    "search": (
        gettext_lazy("Search"),
        gettext_lazy("A part of a name or symbol, or a whole address or transaction. Results can be sorted."),
    ),
    "token": (
        gettext_lazy("Read one token"),
        gettext_lazy("By the id of its chain and its address. The examples have a new token here."),
    ),
    "prices": (
        gettext_lazy("Read market caps"),
        gettext_lazy("Of up to 100 tokens, with the time of each price. `null` means that no source has a price."),
    ),
    "trades": (
        gettext_lazy("Read trades and candles"),
        gettext_lazy("Trades come newest first, candles oldest first. Prices are in USD where a source has one."),
    ),
    "users": (
        gettext_lazy("Find a user"),
        gettext_lazy(
            "By FID, verified address or name. Profiles are stored of users that requested tokens; of others the answer"
            " is 404."
        ),
    ),
    "creator": (
        gettext_lazy("Read a creator's ledger"),
        gettext_lazy(
            "Launches of a wallet or FID, what became of them, and the fees of their recipients. An unknown value is"
            " `null` with a reason."
        ),
    ),
    "bars": (
        gettext_lazy("Feed TradingView's charts"),
        gettext_lazy(
            "The datafeed has the format UDF. A symbol is a chain and an address, in USD, or with `.QUOTE` after it in"
            " the paired token."
        ),
    ),
    "launch": (
        gettext_lazy("Launch a token"),
        gettext_lazy(
            "With a key of the scope `deploy`. A dry run validates and simulates; nothing is sent. The same body"
            " without `dryRun` launches the token, once for each `requestKey`. `TOKEN_ADMIN` is your wallet."
        ),
    ),
    "uploads": (
        gettext_lazy("Upload a picture"),
        gettext_lazy(
            "With a key of the scope `deploy`. A picture is reduced and encoded anew; the same one has the same URL."
        ),
    ),
    "airdrops": (
        gettext_lazy("Save and claim airdrops"),
        gettext_lazy(
            "For a token that is launched elsewhere: save the entries with a key of the scope `deploy`, and launch the"
            " token with the root in the answer. Proofs are public."
        ),
    ),
    "presales": (
        gettext_lazy("Read presales"),
        gettext_lazy(
            "Terms and state come from the chain. A buyer of a presale with an allow-list needs a proof: it is served"
            " for presales that were started here, and for posted allow-lists."
        ),
    ),
    "transactions": (
        gettext_lazy("Prepare transactions for a wallet"),
        gettext_lazy(
            "The answer has simulated contract calls, here for a claim of fees, and your wallet signs them. `RPC_URL`"
            " is your own node; the key `WALLET_KEY` stays in your program. The reference has the other actions."
        ),
    ),
    "signin": (
        gettext_lazy("Sign in with a wallet"),
        gettext_lazy(
            "The wallet signs a message of EIP-4361 with a nonce; the answer has a JWT for an hour. The message"
            " names this site, or a page that its operators list."
        ),
    ),
    "screener": (
        gettext_lazy("Feed DEX Screener"),
        gettext_lazy(
            "The format is that of its adapter. Events are of final blocks: read each block once, up to the latest one."
        ),
    ),
    "tools": (
        gettext_lazy("Feed DEXTools"),
        gettext_lazy("The same events in the format of its adapter, without a price; a pair names its factory."),
    ),
    "daily": (
        gettext_lazy("Read volume and fees of a day"),
        gettext_lazy(
            "In USD and by paired token, of a day in UTC. A day is served once all of its blocks are final and"
            " verified; before, the answer is 404."
        ),
    ),
    "integrity": (
        gettext_lazy("Read facts about a launch"),
        gettext_lazy(
            "First buyers, bundles of purchases and largest holders. The list `unknown` names what trades can't show."
        ),
    ),
    "mcp": (
        gettext_lazy("Connect an agent"),
        gettext_lazy(
            "The address `/mcp` is a server of the Model Context Protocol, whose tools are endpoints of the API. A key,"
            " in the header `x-api-key` or `Authorization`, adds the tools of its scopes."
        ),
    ),
    "events": (
        gettext_lazy("Catch up with events"),
        gettext_lazy("Every change is an event with a rising id. Go on from the last id that you have."),
    ),
    "stream": (
        gettext_lazy("Listen to the stream"),
        gettext_lazy("The same events as they happen, without a key. After a break, send the id of your last event."),
    ),
    "index": (
        gettext_lazy("Index a transaction"),
        gettext_lazy("Launches are found without it. With it, yours is listed at once; a known token is read again."),
    ),
    "webhook": (
        gettext_lazy("Verify a webhook"),
        gettext_lazy(
            "Events can be sent to your URL. Verify each request before you use it, as below or by a library of"
            " Standard Webhooks. `WEBHOOK_SECRET` is the secret of your endpoint."
        ),
    ),
}


# Slug -> the feed without which the task is left out.
_NEEDED_FEEDS = {"bars": "udf", "screener": "dexscreener", "tools": "dextools", "daily": "daily"}
# Only EVM chains have these tasks; beside a token of Solana their examples keep the files' addresses.
_EVM_ONLY = {"airdrops", "presales", "transactions", "signin", "screener", "tools", "daily"}


def build_groups() -> list[TaskGroup]:
    """Return the tasks by subject, with examples about one token in this installation; one query."""
    token = _example_token()
    general = {_BASE: settings.SITE_URL, _DAY: f"{timezone.now() - timedelta(days=1):%Y-%m-%d}"}
    general[_CHAIN_ID] = str(next(iter((*launching_chains(), *evm_chain_ids())), _CHAIN_ID))
    values = dict(general)
    if token is not None:
        values |= {_ADDRESS: token.contract_address, _TX_HASH: token.tx_hash, _CHAIN_ID: str(token.chain_id)}
        values |= {_CREATOR: token.msg_sender or _CREATOR, _FID: str(token.requestor_fid or _FID)}
        values[_PAIRED] = token.paired_token or _PAIRED
    is_evm = values.get(_ADDRESS, _ADDRESS).startswith("0x")
    without_token = {"launch"} if is_evm else {"launch", *_EVM_ONLY}
    groups = []
    for title, slugs in _GROUPS:
        served = [slug for slug in slugs if _is_served(slug)]
        tasks = [_build_task(slug, general if slug in without_token else values) for slug in served]
        groups += [TaskGroup(str(title), tuple(tasks))] if tasks else []
    return groups


def _is_served(slug: str) -> bool:
    if slug == "uploads":
        return settings.UPLOAD_STORAGE != "off"
    if slug == "launch":
        return bool(launching_chains())
    if slug == "transactions":
        return bool(evm_chain_ids())
    if slug == "signin":
        return bool(evm_chain_ids()) and find_issuer(WALLET_ISSUER) is not None
    return _NEEDED_FEEDS.get(slug) in (None, *settings.FEEDS)


def _build_task(slug: str, values: dict[str, str]) -> Task:
    title, text = _TASKS[slug]
    return Task(slug, str(title), str(text), tuple(_build_example(slug, language, values) for language in LANGUAGES))


def _example_token() -> Token | None:
    """Return the newest listed token with stored trades among the newest _CANDIDATES; the newest one without any."""
    newest = Token.objects.listed().order_by("-deployed_at", "-id").values("pk")[:_CANDIDATES]
    tokens = Token.objects.filter(pk__in=newest).only(
        "chain_id", "contract_address", "tx_hash", "msg_sender", "requestor_fid", "paired_token"
    )
    return tokens.order_by(IsNull(F("market__last_trade_at"), True), "-deployed_at", "-id").first()


def _build_example(slug: str, language: str, values: dict[str, str]) -> Example:
    name, suffix = LANGUAGES[language]
    code = _PLACEHOLDERS.sub(lambda match: values.get(match[0], match[0]), _read_example(slug + suffix))
    return Example(language, name, code)


@cache
def _read_example(file_name: str) -> str:
    # In the folder of its subject.
    (file,) = _FILES.glob(f"*/{file_name}")
    return file.read_text(encoding="utf-8")
