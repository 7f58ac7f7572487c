"""Environment variables without a setting: a misspelt or former one would otherwise have no effect, and no error."""

import os
import re
from collections.abc import Collection, Iterator, Mapping

import attrs

from config.environment.model import Environment
from config.environment.variables import ACCEPTS_FILE, CHAIN_PREFIX, FILE, read_variables

# Useful in `.env`, though no setting: HTTP clients' proxies and certificates, and options for Python and the servers.
_OF_LIBRARIES = re.compile(
    r"(?i:(https?|no|all)_proxy)|(REQUESTS|CURL)_CA_BUNDLE|(SSL|PYTHON|DJANGO|CELERY|GRANIAN)_?.*"
)
# Chain id and `_FILE` at the end of a name: without them, a per-chain variable's name is its prefix.
_ENDING = re.compile(f"[0-9]*({FILE})?$")
# Variables of former versions, whose settings have one value in each installation: CHANGELOG.md.
FORMER = frozenset({
    "ANVIL", "DEPLOYER_SIGNER_TIMEOUT_SECONDS", "DOCUMENT_ATTEMPTS", "DOCUMENT_MAX_BYTES", "DOCUMENT_TIMEOUT_SECONDS",
    "EDGE_CACHE_MB", "FOLLOW_LAG_ALARM_SECONDS", "FOLLOW_LONGEST_RANGE_BLOCKS", "FOLLOW_RANGE_BLOCKS",
    "FOLLOW_VERIFY_SECONDS", "HUB_PULL_SECONDS", "IDENTITY_TIMEOUT_SECONDS", "INDEX_LEASE_SECONDS",
    "INDEX_MAX_ATTEMPTS", "LAUNCHBOARD_REDIS_DB", "LAUNCH_EVERY_SECONDS", "LEADERBOARD_24H_SECONDS",
    "LEADERBOARD_30D_SECONDS", "LEADERBOARD_7D_SECONDS", "LEADERBOARD_SNAPSHOT_MINUTES", "LOGIN_FAILURE_LIMIT",
    "LOGIN_LOCK_MINUTES", "MARKET_ADDRESSES_PER_CALL", "MARKET_PRICE_TOLERANCE_PERCENT", "MARKET_TIMEOUT_SECONDS",
    "PRETOKEN_ROOM_BYTES", "RATE_LIMIT_ADMIN_VERIFY", "READ_REPLICA_MAX_LAG_SECONDS", "RPC_ATTEMPTS", "RPC_BATCH_SIZE",
    "RPC_PATIENCE_SECONDS", "SOCIAL_TIMEOUT_SECONDS", "STREAM_CLIENTS", "STREAM_HEARTBEAT_SECONDS",
    "TRADE_EVERY_SECONDS", "UPLOAD_PICTURE_MAX_BYTES", "UPLOAD_TIMEOUT_SECONDS", "WEBHOOK_DISABLE_DAYS",
    "WEBHOOK_SCHEDULE_SECONDS", "WEBHOOK_TIMEOUT_SECONDS", "WEB_BODY_MEMORY_MB", "WEB_BODY_TIMEOUT_SECONDS",
})  # fmt: skip


def unknown_variables(in_file: Collection[str], environment: Mapping[str, str] | None = None) -> Iterator[str]:
    """Return sentences about variables without a setting: any in `.env`; near misses and former ones in either.

    The environment has other programs' variables, too; a near miss is one edit away from a setting's name. All former
    ones share a sentence.
    """
    environment = os.environ if environment is None else environment
    if former := sorted(FORMER & {*in_file, *(name for name, text in environment.items() if text)}):
        yield f"{', '.join(former)}: set without effect, since these values are fixed now; see CHANGELOG.md"
    fields = {field.metadata.get(CHAIN_PREFIX, field.name): field.metadata for field in attrs.fields(Environment)}
    names = fields.keys() | {name + FILE for name, metadata in fields.items() if metadata[ACCEPTS_FILE]}
    starts = [name for name, metadata in fields.items() if CHAIN_PREFIX in metadata]
    starts += [f"OIDC_{name}_" for name in read_variables(Environment, environment).OIDC_ISSUERS]
    for name in sorted({*in_file, *environment} - names - FORMER):
        if name.startswith(tuple(starts)):
            continue
        forms = (name, _ENDING.sub("", name))
        similar = next((setting for setting in fields if any(_is_similar(form, setting) for form in forms)), "")
        similar += "<chainId>" * similar.endswith("_")
        if similar or (name in in_file and not _OF_LIBRARIES.fullmatch(name)):
            source, hint = " in .env" if name in in_file else "", f"; is {similar} meant?" if similar else ""
            yield f"{name} is set{source}, and no setting has this name{hint}"


def _is_similar(name: str, setting: str) -> bool:
    """Return whether at most one character is added, left out or replaced."""
    if abs(len(name) - len(setting)) > 1:
        return False
    start = len(os.path.commonprefix([name, setting]))
    end = len(os.path.commonprefix([name[start:][::-1], setting[start:][::-1]]))
    return max(len(name), len(setting)) - start - end <= 1
