"""The knobs of deployments, which `config.settings` takes in: who signs, and within which limits."""

from decimal import Decimal

from config.environment.chain_variables import (
    HIGHEST_FEE_GWEI,
    LOWEST_FEE_GWEI,
    env_deployer_addresses,
    env_deployer_keys,
    env_deployer_keystores,
    env_highest_fees,
)
from config.environment.secret import Secret
from config.environment.variables import env_decimal, env_float, env_secret, env_url, load_env_file

# This module is imported before the settings have read it.
load_env_file()

# Who signs. Several wallets of one chain send at the same time.

# Chain id -> private keys, from DEPLOYER_KEYS_<chainId> or the file that DEPLOYER_KEYS_<chainId>_FILE names.
DEPLOYER_KEYS = env_deployer_keys()
# Chain id -> encrypted key files, from DEPLOYER_KEYSTORES_<chainId>.
DEPLOYER_KEYSTORES = env_deployer_keystores()
# What all of those files open with.
DEPLOYER_KEYSTORE_PASSWORD = Secret(env_secret("DEPLOYER_KEYSTORE_PASSWORD"))
# Chain id -> addresses whose keys a remote signer has, from DEPLOYER_REMOTE_<chainId>.
DEPLOYER_REMOTE = env_deployer_addresses()
# Where it answers web3signer's `eth_signTransaction`.
DEPLOYER_SIGNER_URL = env_url("DEPLOYER_SIGNER_URL")
# How long it may take for the connection, an answer's head and its body, each; a wallet waits for it.
DEPLOYER_SIGNER_TIMEOUT_SECONDS = env_float("DEPLOYER_SIGNER_TIMEOUT_SECONDS", 5.0, minimum=0.1, maximum=60.0)

# Within which limits.

_MOST = Decimal(1_000_000)

# The most that is paid for a gas, in gwei.
DEPLOY_MAX_FEE_GWEI = env_decimal("DEPLOY_MAX_FEE_GWEI", Decimal(50), minimum=LOWEST_FEE_GWEI, maximum=HIGHEST_FEE_GWEI)
# Chain id -> the same for this chain, from DEPLOY_MAX_FEE_GWEI_<chainId>.
DEPLOY_MAX_FEES_GWEI = env_highest_fees()
# How long a transaction may wait at the head of its wallet's line before it is replaced by one that pays more.
DEPLOY_STUCK_SECONDS = env_float("DEPLOY_STUCK_SECONDS", 15.0, minimum=1.0, maximum=3600.0)
# Below this balance, in the native coin, a wallet raises an alarm.
DEPLOY_LOW_BALANCE_ETH = env_decimal("DEPLOY_LOW_BALANCE_ETH", Decimal("0.05"), minimum=Decimal(0), maximum=_MOST)
# The most, in the native coin, that one deployment may have bought within its launch: our wallet pays for it.
DEPLOY_MAX_DEV_BUY_ETH = env_decimal("DEPLOY_MAX_DEV_BUY_ETH", Decimal(1), minimum=Decimal(0), maximum=_MOST)
# The most that all of one partner key on one chain may have bought in a day by UTC.
DEPLOY_DAILY_DEV_BUY_ETH = env_decimal("DEPLOY_DAILY_DEV_BUY_ETH", Decimal(10), minimum=Decimal(0), maximum=_MOST)
