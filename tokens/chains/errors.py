"""Errors of the chain library in two families: retryable failures of nodes and signers, and permanent facts."""

from config.http.errors import PermanentError, RetryableError
from tokens.chains.pool_types import UndecodableLog


class NodeUnavailableError(RetryableError):
    """No node of the chain returned a usable response."""


class InconsistentResponseError(NodeUnavailableError):
    """Responses that contradict each other, or lack a part; another node by itself may have consistent ones."""


class RequestTooLargeError(NodeUnavailableError):
    """Every node timed out or exceeded the response size limit; a smaller request may succeed."""


class WouldRevertError(PermanentError):
    """A transaction that would revert; `reason` is text, `data` the contract's return data as hex, maybe empty."""

    def __init__(self, reason: str, *, data: str) -> None:
        super().__init__(f"the transaction would be reverted: {reason}")
        self.reason = reason
        self.data = data


class SenderBalanceTooLowError(RetryableError):
    """The sender's balance does not cover the transaction; the call itself may be valid."""


class TransactionNotFoundError(RetryableError):
    """The transaction is unknown to the chain or not mined yet."""


class LaunchNotFoundError(PermanentError):
    """A reverted transaction, or a mined one without a launch by a registered factory and without a token event."""


class LogDecodingError(PermanentError):
    """A log of a registered contract that does not match the layout of its event; `log` is its place, if known."""

    def __init__(self, reason: str, *, log: UndecodableLog | None = None) -> None:
        super().__init__(reason)
        self.log = log


class FeesUnavailableError(PermanentError):
    """The chain's contracts do not report a position's fees or their recipients."""


class ProgramAccountError(FeesUnavailableError):
    """An account that does not exist, belongs to another program, or has an unknown layout."""


class LaunchOptionUnavailableError(PermanentError):
    """The chain has no contract for a launch option; `field` is the path of the option in the launch request."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


class UnknownContractError(FeesUnavailableError):
    """The registry lacks a contract of the chain that the call needs; `key` is its name in the registry."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the registry has no {key} of the chain")
        self.key = key


class SignerUnavailableError(RetryableError):
    """The signer of a wallet did not respond, or requested a later retry."""


class SignerRejectedError(PermanentError):
    """No usable key for the wallet, or the signer did not sign the requested transaction."""


class BlockNotCanonicalError(RetryableError):
    """The chain has another block, or none, at the number of a block read before: a reorg, or a node that lags."""
