"""Translation from deployment and airdrop errors into API errors; wallet details are for operators only."""

from collections.abc import Iterator
from contextlib import contextmanager

from rest_framework.exceptions import Throttled, ValidationError
from rest_framework.request import Request
from rest_framework.settings import api_settings

from config.api.errors import (
    BadRequestError,
    ConflictError,
    FieldsForbiddenError,
    PayloadTooLargeError,
    ServiceUnavailableError,
    UpstreamFailedError,
    UpstreamUnavailableError,
)
from config.api.parsing import declared_length
from config.parsing.json_rules import FieldNames, InvalidFieldsError, Problem
from config.web.body_limits import MAX_BODY_BYTES
from tokens.chains.errors import LaunchOptionUnavailableError, NodeUnavailableError, WouldRevertError
from tokens.deploying import accept, quotas, simulation
from tokens.deploying.saved_airdrops import SavedEntriesQuotaError
from tokens.deploying.sending.pause_flags import DeploymentsPausedError
from tokens.installation.installed_chains import UnsupportedChainError

# Enough for an airdrop with 100,000 entries.
MAX_AIRDROP_BYTES = 8 * MAX_BODY_BYTES
# `Retry-After` for conditions that only an operator can change.
_PAUSED_SECONDS, _UNFIT_SECONDS = 60, 60
_OWN_NAMES: FieldNames = {}


def reject_oversized(request: Request) -> None:
    """Raise PayloadTooLarge for a body above the general limit without an airdrop."""
    body = request.data
    if declared_length(request) > MAX_BODY_BYTES and not (isinstance(body, dict) and body.get("airdrop")):
        raise PayloadTooLargeError(f"Request body without an airdrop is over {MAX_BODY_BYTES} bytes")


@contextmanager
def as_api_errors(names: FieldNames = _OWN_NAMES) -> Iterator[None]:
    """Translate deployment and airdrop errors into API errors.

    `names` maps deployment fields to body fields.
    """
    try:
        yield
    except InvalidFieldsError as error:
        raise ValidationError(_by_field(error.problems)) from error
    except accept.RequestKeyConflictError as error:
        raise ConflictError("This requestKey was used with another body") from error
    except UnsupportedChainError as error:
        raise BadRequestError("Unsupported chain", field=names.get("chainId", "chainId")) from error
    except LaunchOptionUnavailableError as error:
        raise BadRequestError(str(error), field=names.get(error.field, error.field)) from error
    except WouldRevertError as error:
        raise BadRequestError(f"The deployment would be reverted: {error.reason}") from error
    except NodeUnavailableError as error:
        raise UpstreamUnavailableError("The chain is not available") from error
    except simulation.InvalidSimulationError as error:
        raise UpstreamFailedError("The chain gave no address for the token") from error
    except simulation.NoSenderAvailableError as error:
        text = "Deployments on this chain are not possible at the moment"
        raise ServiceUnavailableError(text, wait=_UNFIT_SECONDS) from error
    except DeploymentsPausedError as error:
        raise ServiceUnavailableError("Deployments are paused", wait=_PAUSED_SECONDS) from error
    except SavedEntriesQuotaError as error:
        raise ConflictError(str(error)) from error
    except quotas.SpendingNotAllowedError as error:
        raise _spending_forbidden(error) from error
    except quotas.QuotaExceededError as error:
        raise Throttled(wait=error.wait) from error


def _spending_forbidden(error: quotas.SpendingNotAllowedError) -> FieldsForbiddenError:
    field, rule = "devBuy", "must not be given: this key is not allowed to spend on this chain"
    if error.most:
        most = f"{error.most.normalize():f}"
        field, rule = "devBuy.ethAmount", f"must be at most {most}, in ETH: this key may spend no more in a day"
    return FieldsForbiddenError(f"{field} {rule}", fields={field: [rule]})


def _by_field(problems: list[Problem]) -> dict[str, list[str]]:
    details: dict[str, list[str]] = {}
    for path, rule in problems:
        details.setdefault(path or api_settings.NON_FIELD_ERRORS_KEY, []).append(rule)
    return details
