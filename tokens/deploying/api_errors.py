"""What stands in an order's way, as errors of the API; what concerns our wallets is for operators alone."""

from collections.abc import Iterator
from contextlib import contextmanager

from rest_framework.exceptions import Throttled
from rest_framework.request import Request

from config.api.errors import (
    BadRequest,
    Conflict,
    PayloadTooLarge,
    Unavailable,
    UpstreamFailed,
    UpstreamUnavailable,
)
from config.api.parsing import MAX_BODY_BYTES, declared_length
from config.json_rules import FieldNames
from tokens.chains.types import NodeUnavailable, NotOffered, WouldRevert
from tokens.deploying import accept, quotas
from tokens.installation.installed_chains import UnsupportedChain

# An airdrop of 100,000 entries has its place in it.
MAX_AIRDROP_BYTES = 8 * MAX_BODY_BYTES
# How many seconds to wait before what only operators can change is tried again.
_PAUSED_SECONDS, _UNFIT_SECONDS = 60, 60
_OWN_NAMES: FieldNames = {}


def refuse_large(request: Request) -> None:
    """Only an airdrop has a reason to be larger than all other bodies may be. Raises PayloadTooLarge."""
    body = request.data
    if declared_length(request) > MAX_BODY_BYTES and not (isinstance(body, dict) and body.get("airdrop")):
        raise PayloadTooLarge(f"Request body without an airdrop is over {MAX_BODY_BYTES} bytes")


@contextmanager
def told(names: FieldNames = _OWN_NAMES) -> Iterator[None]:
    """Around what takes or rehearses an order; `names` are its body's for the fields of a deployment."""
    try:
        yield
    except accept.KeyTaken as error:
        raise Conflict("This requestKey was used with another body") from error
    except UnsupportedChain as error:
        raise BadRequest("Unsupported chain", field=names.get("chainId", "chainId")) from error
    except NotOffered as error:
        raise BadRequest(str(error), field=names.get(error.field, error.field)) from error
    except WouldRevert as error:
        raise BadRequest(f"The deployment would be reverted: {error.reason}") from error
    except NodeUnavailable as error:
        raise UpstreamUnavailable("The chain is not available") from error
    except accept.StrangeAnswer as error:
        raise UpstreamFailed("The chain gave no address for the token") from error
    except accept.NobodySends as error:
        text = "Deployments on this chain are not possible at the moment"
        raise Unavailable(text, wait=_UNFIT_SECONDS) from error
    except accept.Paused as error:
        raise Unavailable("Deployments are paused", wait=_PAUSED_SECONDS) from error
    except quotas.QuotaExceeded as error:
        raise Throttled(wait=error.wait) from error
