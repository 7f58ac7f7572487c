"""System checks for the chain registry, nodes, signers and uploads, which run before commands that use chains."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning

from config.environment.unknown_names import unknown_variables
from config.environment.upload_variables import CALL_SETTINGS
from tokens.chains.addresses import checksum_address
from tokens.chains.errors import SignerRejectedError
from tokens.chains.evm.transactions.keystores import read_keystore
from tokens.chains.registry.chains import RegistryError
from tokens.chains.registry.toml_files import SETTINGS, RegistryMistake
from tokens.installation.installed_registry import registry

# These checks' tag, for `requires_system_checks`. All checks would load every URL and admin page, which takes longer
# than the rest of a start: `manage.py check` runs them.
CHAINS = "chains"
UNKNOWN_VARIABLE = "tokens.W005"
# The chain settings that also apply to Solana.
_ALSO_ON_SOLANA = ("FOLLOW_FROM",)
# Upload storage -> the settings that its new uploads need.
_UPLOAD_SETTINGS = CALL_SETTINGS | {"s3": (*CALL_SETTINGS["s3"], "UPLOAD_PUBLIC_URL")}


def check_chains(**_: Any) -> list[CheckMessage]:
    """Report every mistake in the registry's files and in the settings that it depends on.

    An RPC_URLS_<chainId> whose chain no file describes is a mistake.
    """
    try:
        chains = registry().chains
    except RegistryError as error:
        return [Error(_text(mistake), id="tokens.E001") for mistake in error.mistakes]
    return [
        Error(
            f"RPC_URLS_{chain_id} is set, and chain {chain_id} is not in the registry.",
            hint="Describe the chain in the file that CHAINS_FILE names; see docs/chains.md.",
            id="tokens.E002",
        )
        for chain_id in settings.RPC_URLS
        if chain_id not in chains
    ]


def _text(mistake: RegistryMistake) -> str:
    """Return a mistake with the setting that has it."""
    return f"{mistake.key_path}: {mistake.rule}." if mistake.file == SETTINGS else f"CHAINS_FILE: {mistake}"


def check_market_chains(**_: Any) -> list[CheckMessage]:
    """Report chains in MARKET_PROVIDER_CHAINS that have no market data: neither own trades nor the provider."""
    try:
        chains = registry().chains
    except RegistryError:
        # `check_chains` reports it.
        return []
    return [
        Warning(
            f"MARKET_PROVIDER_CHAINS has chain {chain_id}, {missing}.",
            hint="Remove it, or describe the chain in the file that CHAINS_FILE names; see docs/chains.md.",
            id="tokens.W006",
        )
        for chain_id in settings.MARKET_PROVIDER_CHAINS
        if (
            missing := "which is not in the registry"
            if chain_id not in chains
            else "which has no market_network"
            if not chains[chain_id].market_network
            else ""
        )
    ]


def check_site_chain(**_: Any) -> list[CheckMessage]:
    """Report a SITE_DEFAULT_CHAIN that the registry lacks: the home page would list no token."""
    chain_id = settings.SITE_DEFAULT_CHAIN
    try:
        if not chain_id or chain_id in registry().chains:
            return []
    except RegistryError:
        # `check_chains` reports it.
        return []
    return [Warning(f"SITE_DEFAULT_CHAIN is {chain_id}, which is not in the registry.", id="tokens.W007")]


def check_variables(**_: Any) -> list[CheckMessage]:
    """Report variables that no setting has, by `unknown_variables`."""
    return [Warning(text, id=UNKNOWN_VARIABLE) for text in unknown_variables(settings.ENV_FILE_VARIABLES)]


def check_following(**_: Any) -> list[CheckMessage]:
    """Report contradictory settings for chain following."""
    settings_by_name: dict[str, Iterable[int]] = {
        "RPC_WS_URL": settings.RPC_WS_URLS,
        "FOLLOW_FROM": settings.FOLLOW_FROM,
        "LAUNCHPADS": settings.LAUNCHPADS,
        "EXPLORER_URL": settings.EXPLORER_URLS,
    }
    unused = [
        Warning(text, id="tokens.W002")
        for text in _unused_settings(settings_by_name, consequence="the chain is not followed")
    ]
    return [*unused, *_check_solana()]


def _check_solana() -> Iterator[Warning]:
    try:
        solana = registry().solana
    except RegistryError:
        # `check_chains` reports it.
        return
    if solana.chain_id in settings.RPC_URLS and not (
        solana.addresses("launch_config") or solana.addresses("launch_creator")
    ):
        yield Warning(
            f"RPC_URLS_{solana.chain_id} is set, and no launch_config or launch_creator: nothing of Solana is indexed.",
            hint="Name the launchpad's accounts in the file that CHAINS_FILE names; see docs/chains.md.",
            id="tokens.W004",
        )


def check_signers(**_: Any) -> list[CheckMessage]:
    """Report settings with which deployments can't be signed.

    Key files are parsed and not decrypted, which takes a second or more each: a wrong password is detected and logged
    when the first deployment is signed.
    """
    settings_by_name: dict[str, Iterable[int]] = {
        "DEPLOYER_KEYS": settings.DEPLOYER_KEYS,
        "DEPLOYER_KEYSTORES": settings.DEPLOYER_KEYSTORES,
        "DEPLOYER_REMOTE": settings.DEPLOYER_REMOTE,
    }
    unused = [
        Warning(text, id="tokens.W003")
        for text in _unused_settings(settings_by_name, consequence="nothing is sent there")
    ]
    return [*unused, *_check_keystores(), *_check_remote_signer()]


def _unused_settings(settings_by_name: Mapping[str, Iterable[int]], *, consequence: str) -> Iterator[str]:
    """Return a message for each EVM chain setting, by name and chain, whose chain has no node or is Solana."""
    for name, chains in settings_by_name.items():
        for chain_id in chains:
            if chain_id == settings.SOLANA_CHAIN_ID and name not in _ALSO_ON_SOLANA:
                yield f"{name}_{chain_id} is set, and chain {chain_id} is Solana: it has no effect."
            elif chain_id not in settings.RPC_URLS:
                yield f"{name}_{chain_id} is set, and RPC_URLS_{chain_id} is not: {consequence}."


def _check_keystores() -> Iterator[CheckMessage]:
    for chain_id, paths in settings.DEPLOYER_KEYSTORES.items():
        for number, path in enumerate(paths, 1):
            try:
                read_keystore(path)
            except SignerRejectedError as error:
                yield Error(f"DEPLOYER_KEYSTORES_{chain_id}, file {number}: {error}", id="tokens.E004")
    if settings.DEPLOYER_KEYSTORES and not settings.DEPLOYER_KEYSTORE_PASSWORD:
        yield Error("There are DEPLOYER_KEYSTORES, and no DEPLOYER_KEYSTORE_PASSWORD.", id="tokens.E005")


def _check_remote_signer() -> Iterator[CheckMessage]:
    for chain_id, addresses in settings.DEPLOYER_REMOTE.items():
        for address in addresses:
            digits = address[2:]
            if digits not in (digits.lower(), digits.upper()) and checksum_address(address) != address:
                yield Error(
                    f"DEPLOYER_REMOTE_{chain_id} has an address with a wrong checksum: {address}", id="tokens.E006"
                )
    if settings.DEPLOYER_REMOTE and not settings.DEPLOYER_SIGNER_URL:
        yield Error("There are addresses in DEPLOYER_REMOTE, and no DEPLOYER_SIGNER_URL.", id="tokens.E007")


def check_uploads(**_: Any) -> list[CheckMessage]:
    """Report the settings that the upload storage lacks."""
    return [
        Error(f"UPLOAD_STORAGE is {settings.UPLOAD_STORAGE}, and {name} is not set.", id="tokens.E008")
        for name in _UPLOAD_SETTINGS.get(settings.UPLOAD_STORAGE, ())
        if not getattr(settings, name)
    ]


def check_nodes(**_: Any) -> list[CheckMessage]:
    """Report missing nodes; only with `check --deploy`, so that other commands stay silent."""
    if settings.RPC_URLS:
        return []
    return [Warning("No RPC_URLS_<chainId> is set: nothing can be indexed.", id="tokens.W001")]
