"""Chain library errors in two families: retryable node or signer failures, and permanent facts."""

from config.http.errors import PermanentError, RetryableError
from tokens.chains.pool_types import UndecodableLog


class NodeUnavailableError(RetryableError):
    """No node for the chain returned a usable response."""


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


class CallWouldRevertError(WouldRevertError):
    """A call in a batch that would revert, after the calls before it succeeded; `index` counts from 0."""

    def __init__(self, reason: str, *, data: str, index: int) -> None:
        super().__init__(reason, data=data)
        self.index = index


class SenderBalanceTooLowError(RetryableError):
    """The sender's balance does not cover the transaction; the call itself may be valid."""


class TransactionNotFoundError(RetryableError):
    """The transaction is unknown to the chain or not mined yet."""


class LaunchNotFoundError(PermanentError):
    """A reverted transaction, or a mined one without a launch by a registered factory and without a token event."""


class LogDecodingError(PermanentError):
    """A registered contract's log that does not match its event's layout; `log` is its position, if known."""

    def __init__(self, reason: str, *, log: UndecodableLog | None = None) -> None:
        super().__init__(reason)
        self.log = log


class FeesUnavailableError(PermanentError):
    """The chain's contracts do not report a position's fees or their recipients."""


class ProgramAccountError(FeesUnavailableError):
    """An account that does not exist, belongs to another program, or has an unknown layout."""


class SwapUnavailableError(PermanentError):
    """A swap that the token's pool does not offer; the text names the reason."""


class LaunchOptionUnavailableError(PermanentError):
    """The chain has no contract for a launch option; `field` is the option's path in the launch request."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


class UnknownContractError(FeesUnavailableError):
    """The registry lacks a contract that the call needs on this chain; `key` is its name in the registry."""

    def __init__(self, key: str) -> None:
        super().__init__(f"the registry has no {key} of the chain")
        self.key = key


class SignerUnavailableError(RetryableError):
    """A wallet's signer did not respond, or requested a later retry."""


class SignerRejectedError(PermanentError):
    """No usable key for the wallet, or the signer did not sign the requested transaction."""


class BlockNotCanonicalError(RetryableError):
    """The chain has another block, or none, at the number where a block was read before: a reorg, or a lagging node."""
