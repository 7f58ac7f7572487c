"""Accounts of the deploy wallets, as the chain has them: balances and delegations, and the alerts for both."""

from django.conf import settings
from django.utils import timezone

from tokens.chains.evm.evm_chain import Chain
from tokens.deploying.sending import wallet_alerts
from tokens.models import DeployWallet, WalletAlert


def refresh_balances(chain: Chain) -> None:
    """Store the balances of all wallets on the chain, and whether they are low. Raises NodeUnavailableError.

    Wallets without a key are included: they may have transactions in flight, and funds left.
    """
    wallets = DeployWallet.objects.filter(chain_id=chain.info.chain_id)
    wallet_by_address = {wallet.address: wallet for wallet in wallets}
    if not wallet_by_address:
        return
    # Without the balance itself, which changes with each deployment: the text stays the same and is logged once.
    warning = f"less than {settings.DEPLOY_LOW_BALANCE_ETH.normalize():f} of the native coin is left"
    for address, account in chain.read_accounts(tuple(wallet_by_address)).items():
        wallet = wallet_by_address[address]
        DeployWallet.objects.filter(pk=wallet.pk).update(balance=account.balance, balance_at=timezone.now())
        # A wallet without a signer needs no balance.
        low = wallet.signable and wallet_alerts.is_low_balance(account.balance)
        wallet_alerts.set_alert(wallet.pk, WalletAlert.BALANCE, warning if low else "")


def refresh_delegations(chain: Chain) -> None:
    """Alert which wallets on the chain execute another contract's code (EIP-7702). Raises NodeUnavailableError.

    Wallets without a key are included, as for balances.
    """
    wallets = DeployWallet.objects.filter(chain_id=chain.info.chain_id)
    id_by_address = dict(wallets.values_list("address", "pk"))
    if id_by_address:
        delegates = chain.read_delegates(tuple(id_by_address))
        for address, wallet_id in id_by_address.items():
            delegate = delegates.get(address)
            message = f"the account executes the code of {delegate} (EIP-7702)" if delegate else ""
            wallet_alerts.set_alert(wallet_id, WalletAlert.DELEGATION, message)
