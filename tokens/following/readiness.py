"""What `GET /readyz?chain=` tells: whether one chain is followed as it should be."""

import re
from datetime import datetime
from typing import Any

from rest_framework.exceptions import ValidationError

from config.api.health import Detail
from tokens.following.chain_status import ChainState, read_states
from tokens.installation.installed_chains import registry

_CHAIN_ID = re.compile(r"[1-9][0-9]{0,17}")


def chain(text: str, now: datetime) -> Detail:
    """Fails for a chain that is halted, late, or was never followed. Raises ValidationError for one that is unknown."""
    if not _CHAIN_ID.fullmatch(text) or int(text) not in registry().chains:
        raise ValidationError({"chain": ["must be the id of a chain that this installation knows"]})
    chain_id = int(text)
    state = next(iter(read_states(now, chain_id=chain_id)), None)
    if state is None or state.followed is None:
        return Detail(passed=False, body=_body(chain_id, state))
    return Detail(passed=not (state.is_halted or state.is_late), body=_body(chain_id, state))


def _body(chain_id: int, state: ChainState | None) -> dict[str, Any]:
    """What is not known yet is null."""
    lag = None if state is None else state.lag_seconds
    return {
        "chainId": chain_id,
        "head": state and state.head,
        "final": state and state.final,
        "followed": state and state.followed,
        "verified": state and state.verified,
        "lagBlocks": state and state.lag_blocks,
        "lagSeconds": None if lag is None else round(lag, 1),
        "halted": state is not None and state.is_halted,
    }
