"""The sample traders' purchases, sales and swaps, in pools and on the bonding curve."""

from development.devchain import node_client
from development.devchain.deploy_contracts import DevelopmentContracts
from development.devchain.traded_samples import PoolKey, TradedSample

ETHER = 10**18
# Dollars for an ether, in the dollar token's smallest units.
_DOLLARS_PER_ETHER = 3_000 * 10**6
_UNLIMITED = 2**256 - 1
# More than a whole curve takes; it pays back the rest.
_WHOLE_CURVE = 5 * ETHER


def buy(at: DevelopmentContracts, token: TradedSample, wallet: str, *, wei: int) -> None:
    """Buy for so much ether, or for about its value in the pool's dollars."""
    if token.key is None:
        curves = node_client.bind_contract(at.rpc_url, "CurveLaunchpad", at.curve_launchpad)
        node_client.transact(at.rpc_url, curves.functions.buy(token.address, 0), sender=wallet, value=wei)
    else:
        paired = token.key[1] if token.key[0] == token.address else token.key[0]
        swap(at, token.key, wallet, currency=paired, amount=value_in(at, paired, wei))


def graduate(at: DevelopmentContracts, token: TradedSample, wallet: str) -> None:
    """Buy all that a token's curve has left, which ends the curve."""
    buy(at, token, wallet, wei=_WHOLE_CURVE)


def sell(at: DevelopmentContracts, token: TradedSample, wallet: str, *, share: float) -> bool:
    """Sell a share of the wallet's tokens; return whether it had some."""
    balance: int = node_client.bind_contract(at.rpc_url, "Token", token.address).functions.balanceOf(wallet).call()
    amount = int(balance * share) if share < 1 else balance
    if not amount:
        return False
    if token.key is None:
        allow(at, token.address, wallet, spender=at.curve_launchpad)
        curves = node_client.bind_contract(at.rpc_url, "CurveLaunchpad", at.curve_launchpad)
        node_client.transact(at.rpc_url, curves.functions.sell(token.address, amount, 0), sender=wallet)
    else:
        swap(at, token.key, wallet, currency=token.address, amount=amount)
    return True


def swap(at: DevelopmentContracts, key: PoolKey, wallet: str, *, currency: str, amount: int) -> None:
    """Swap an amount of the currency. Wrapped native is paid in native, and dollars are minted first."""
    is_native = currency == at.wrapped_native
    if not is_native:
        allow(at, currency, wallet, spender=at.swap_router)
    if currency == at.usd:
        usd = node_client.bind_contract(at.rpc_url, "UsdStandIn", at.usd)
        node_client.transact(at.rpc_url, usd.functions.mint(wallet, amount), sender=wallet)
    router = node_client.bind_contract(at.rpc_url, "SwapRouter", at.swap_router)
    call = router.functions.swap(key, currency, amount, 0)
    node_client.transact(at.rpc_url, call, sender=wallet, value=amount if is_native else 0)


def value_in(at: DevelopmentContracts, currency: str, wei: int) -> int:
    """Return about the same value in dollars, or the wei for wrapped native."""
    return wei * _DOLLARS_PER_ETHER // ETHER if currency == at.usd else wei


def allow(at: DevelopmentContracts, currency: str, wallet: str, *, spender: str) -> None:
    """Allow the spender the wallet's whole balance, unless it may spend it already."""
    contract = node_client.bind_contract(at.rpc_url, "Token", currency)
    if contract.functions.allowance(wallet, spender).call() < _UNLIMITED:
        node_client.transact(at.rpc_url, contract.functions.approve(spender, _UNLIMITED), sender=wallet)
