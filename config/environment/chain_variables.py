"""Environment variables for chains: nodes, following, deployments and the development chain."""

from decimal import Decimal
from pathlib import Path

from attrs import frozen

from config.environment import kinds
from config.environment.secret import Secret
from config.environment.variables import per_chain, variable

# Gas prices in gwei: a lower limit would never be mined; a higher one is a typing error.
_GAS_PRICES = (Decimal("0.001"), Decimal(1_000_000))
# Days.
_DECADE = 3650
_COINS = (Decimal(0), Decimal(1_000_000))


@frozen(slots=False, repr=False)
class ChainVariables:
    """Chains: their nodes, and how `manage.py follow` indexes every launch."""

    RPC_URLS: dict[int, tuple[str, ...]] = per_chain("RPC_URLS_", kinds.node_urls)
    """JSON-RPC URLs of a chain's nodes, separated by commas, preferred node first. Each chain has a line, named by its
    id.

    Default: none: `make run` starts a development chain with the id 31337
    Example: https://node-one.example/key,https://node-two.example/key
    """
    RPC_WS_URLS: dict[int, str] = per_chain("RPC_WS_URL_", kinds.url("ws", "wss"))
    """WebSocket URL for new-head notifications from one of the chain's nodes.

    Default: none: the newest block is polled
    Example: wss://node-one.example/key
    """
    FOLLOW_FROM: dict[int, int] = per_chain("FOLLOW_FROM_", kinds.block_number)
    """First block to read; on Solana a slot. It applies when a chain, or a Solana account, is followed for the first
    time. `manage.py backfill` reads earlier blocks at any time.

    Default: first block that is not final; on Solana the first slot
    """
    LAUNCHPADS: dict[int, tuple[str, ...]] = per_chain("LAUNCHPADS_", kinds.launchpads)
    """[Launchpads](launchpads.md#switch-launchpads-on-and-off) whose launches are indexed on a chain, by name and
    separated by commas: `clanker` (the built-in generations) and declared launchpads.

    Default: `clanker`
    Example: clanker
    """
    CHAINS_FILE: tuple[str, ...] = variable(kinds.split_list, empty=())
    """TOML files with your [chains](chains.md), factories and addresses, separated by commas; later files override
    earlier ones. A comma in a path is written `\\,`."""
    SOLANA_CHAIN_ID: int = variable(kinds.whole_number(1, 10**18 - 1), "101")
    """Solana's chain id in the API and in `RPC_URLS_<chainId>`; `CHAINS_FILE` names your launchpad's accounts there. It
    is stored with tokens: choose it before the first token."""
    RPC_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 120.0), "10")
    """Timeout in seconds for one HTTP request to a node. A call and its retries have 12 seconds, or 2 more than it."""
    FOLLOW_CONCURRENCY: int = variable(kinds.whole_number(1, 32), "4")
    """Concurrent block ranges in the historical sync; on Solana concurrent requests."""
    FOLLOW_POLL_SECONDS: float = variable(kinds.number(0.05, 60.0), "2")
    """Longest polling interval in seconds for new blocks without a WebSocket; it adapts to the chain's block time."""
    FOLLOW_VERIFY: str = variable(kinds.choice("logs", "bloom", "receipts"), "bloom")
    """[Verification](#verification-of-final-blocks) of final blocks. `logs` fetches the logs again, from another URL if
    there is one; `bloom` also searches the bloom filters for missing logs; `receipts` reads every block's receipts."""
    FOLLOW_CLAIMS_SECONDS: float = variable(kinds.number(0.1, 86_400.0), "300")
    """Seconds between checks of Solana pools: claimed fees, prices and curves, a hundred pools per call. If fees have
    grown, the pool's own transactions are read: a creator's claim names no followed account."""
    SAVED_TOKEN_DAYS: int = variable(kinds.whole_number(1, _DECADE), "30")
    """Retention in days for saved tokens that the chain has not confirmed. Failed index requests from pages have the
    same retention."""


@frozen(slots=False, repr=False)
class DeploymentVariables:
    """Deployments: signers and limits. Several wallets on one chain send in parallel."""

    DEPLOYER_KEYS: dict[int, tuple[Secret, ...]] = per_chain("DEPLOYER_KEYS_", kinds.private_keys, accepts_file=True)
    """Private keys of the sending wallets in hex, separated by commas. A file is safer: `DEPLOYER_KEYS_<chainId>_FILE`
    names a file with one key per line.

    Default: none: no deployment on that chain
    """
    DEPLOYER_KEYSTORES: dict[int, tuple[Path, ...]] = per_chain("DEPLOYER_KEYSTORES_", kinds.paths)
    """Encrypted key files (geth, clef, eth-account), separated by commas; a comma in a path is written `\\,`. Each
    signing process decrypts them once, in about a second per file.

    Example: /run/secrets/wallet-one.json,/run/secrets/wallet-two.json
    """
    DEPLOYER_KEYSTORE_PASSWORD: Secret = variable(Secret, empty=Secret(""), accepts_file=True)
    """Password for all key files in `DEPLOYER_KEYSTORES_<chainId>`."""
    DEPLOYER_REMOTE: dict[int, tuple[str, ...]] = per_chain("DEPLOYER_REMOTE_", kinds.addresses)
    """Addresses of a remote signer's keys, separated by commas.

    Example: 0x52908400098527886E0F7030069857D2E4169EE7
    """
    DEPLOYER_SIGNER_URL: str = variable(kinds.base_url)
    """URL of a remote signer with web3signer's `eth_signTransaction`.

    Example: http://127.0.0.1:9000
    """
    DEPLOY_MAX_FEE_GWEI: Decimal = variable(kinds.amount(*_GAS_PRICES), "50")
    """Highest fee per gas in gwei, also for replacement transactions; [the registry](chains.md#add-a-chain) caps the
    tip of new transactions."""
    DEPLOY_MAX_FEES_GWEI: dict[int, Decimal] = per_chain("DEPLOY_MAX_FEE_GWEI_", kinds.amount(*_GAS_PRICES))
    """Highest fee per gas in gwei on one chain; it overrides `DEPLOY_MAX_FEE_GWEI`.

    Default: `DEPLOY_MAX_FEE_GWEI`
    Example: 1
    """
    DEPLOY_STUCK_SECONDS: float = variable(kinds.number(1.0, 3600.0), "15")
    """Seconds until the first pending transaction in a nonce queue gets a fee bump."""
    DEPLOY_LOW_BALANCE_ETH: Decimal = variable(kinds.amount(*_COINS), "0.05")
    """Balance in the native coin below which a wallet raises an alarm."""
    DEPLOY_MAX_DEV_BUY_ETH: Decimal = variable(kinds.amount(*_COINS), "1")
    """Highest dev buy per deployment in the native coin; the service's wallet pays for it. Without spending limits no
    dev buy is allowed."""
    DEPLOY_DAILY_DEV_BUY_ETH: Decimal = variable(kinds.amount(*_COINS), "10")
    """Highest sum of dev buys by partner key and chain per day in UTC, whatever [operators](operators.md#tasks) allow;
    by default they allow none."""
