"""Settings of deployments: signers and limits."""

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

# Imported before `config.settings` has loaded the file.
load_env_file()

# Signers. Several wallets of one chain send in parallel.

# Chain id -> private keys, from DEPLOYER_KEYS_<chainId> or the file that DEPLOYER_KEYS_<chainId>_FILE names.
DEPLOYER_KEYS = env_deployer_keys()
# Chain id -> encrypted key files, from DEPLOYER_KEYSTORES_<chainId>.
DEPLOYER_KEYSTORES = env_deployer_keystores()
# Password of all of those files.
DEPLOYER_KEYSTORE_PASSWORD = Secret(env_secret("DEPLOYER_KEYSTORE_PASSWORD"))
# Chain id -> addresses of a remote signer's keys, from DEPLOYER_REMOTE_<chainId>.
DEPLOYER_REMOTE = env_deployer_addresses()
# URL of a remote signer with web3signer's `eth_signTransaction`.
DEPLOYER_SIGNER_URL = env_url("DEPLOYER_SIGNER_URL")
# Timeout of the signer's connection, response head and body, each; it blocks the wallet.
DEPLOYER_SIGNER_TIMEOUT_SECONDS = env_float("DEPLOYER_SIGNER_TIMEOUT_SECONDS", 5.0, minimum=0.1, maximum=60.0)

# Limits.

_MOST = Decimal(1_000_000)

# Maximum gas price in gwei.
DEPLOY_MAX_FEE_GWEI = env_decimal("DEPLOY_MAX_FEE_GWEI", Decimal(50), minimum=LOWEST_FEE_GWEI, maximum=HIGHEST_FEE_GWEI)
# Chain id -> maximum gas price of this chain, from DEPLOY_MAX_FEE_GWEI_<chainId>.
DEPLOY_MAX_FEES_GWEI = env_highest_fees()
# Seconds that a transaction may wait at the head of its nonce queue before a replacement with a higher fee.
DEPLOY_STUCK_SECONDS = env_float("DEPLOY_STUCK_SECONDS", 15.0, minimum=1.0, maximum=3600.0)
# Balance in the native coin below which a wallet raises an alarm.
DEPLOY_LOW_BALANCE_ETH = env_decimal("DEPLOY_LOW_BALANCE_ETH", Decimal("0.05"), minimum=Decimal(0), maximum=_MOST)
# Maximum dev buy of one deployment in the native coin, paid by our wallet.
DEPLOY_MAX_DEV_BUY_ETH = env_decimal("DEPLOY_MAX_DEV_BUY_ETH", Decimal(1), minimum=Decimal(0), maximum=_MOST)
# Maximum of all dev buys of one partner key on one chain per day in UTC.
DEPLOY_DAILY_DEV_BUY_ETH = env_decimal("DEPLOY_DAILY_DEV_BUY_ETH", Decimal(10), minimum=Decimal(0), maximum=_MOST)
