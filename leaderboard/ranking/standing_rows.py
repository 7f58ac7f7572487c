"""What agents are, and what was judged of them, as rows of a ranking."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from django.db.backends.utils import CursorWrapper

from leaderboard.ranking import scoring
from leaderboard.ranking.scoring import Judgement

# Whose token is not indexed, or blocked, is as one without. In the order of `columns.Agents`.
_DESCRIBED = """
SELECT agent.id, agent.agent_id, agent.name, agent.fid, agent.token_chain_id, agent.token_address,
    COALESCE(token.name, ''), COALESCE(token.symbol, ''), agent.creator_fid,
    token.id IS NOT NULL AND NOT agent.is_hidden
FROM leaderboard_agent AS agent
LEFT JOIN tokens_token AS token ON token.chain_id = agent.token_chain_id
    AND token.contract_address = agent.token_address AND NOT token.unindexed AND NOT token.blocked
ORDER BY agent.id
"""


@dataclass(frozen=True, slots=True)
class DescribedAgent:
    """An agent and its token as they are when a ranking is made; what is unknown is None, unknown text empty."""

    id: int
    public_id: str
    name: str
    fid: int | None
    token_chain_id: int | None
    token_address: str
    token_name: str
    token_symbol: str
    creator_fid: int | None
    # Whether it gets a rank: it has a token that is listed, and operators have not hidden it.
    is_ranked: bool


def read_agents(cursor: CursorWrapper) -> list[DescribedAgent]:
    """All agents, in the order of `columns.Agents`."""
    cursor.execute(_DESCRIBED)
    return [DescribedAgent(*row) for row in cursor.fetchall()]


def standing_rows(agents: list[DescribedAgent], judgement: Judgement, *, snapshot_id: int) -> Iterator[dict[str, Any]]:
    """A row of Standing for each agent, as columns: those that are ranked first, from the best on."""
    order = scoring.ranking(judgement)
    is_ranked = np.array([agent.is_ranked for agent in agents], dtype=np.bool_)
    made = _Columns(judgement)
    for rank, index in enumerate(order[is_ranked[order]].tolist(), start=1):
        yield {"snapshot_id": snapshot_id, "rank": rank, **_described(agents[index]), **made.of(index)}
    for index in np.flatnonzero(~is_ranked).tolist():
        yield {"snapshot_id": snapshot_id, "rank": None, **_described(agents[index]), **made.of(index)}


def _described(agent: DescribedAgent) -> dict[str, Any]:
    return {
        "agent_id": agent.id,
        "agent_name": agent.name,
        "public_id": agent.public_id,
        "fid": agent.fid,
        "token_chain_id": agent.token_chain_id,
        "token_address": agent.token_address,
        "token_name": agent.token_name,
        "token_symbol": agent.token_symbol,
        "creator_fid": agent.creator_fid,
    }


class _Columns:
    """A judgement as Python's own numbers: of numpy's, each that is taken out costs more than a row of these."""

    def __init__(self, judgement: Judgement) -> None:
        counted = judgement.tallies
        self._counts = {
            "runs_succeeded": counted.runs_succeeded.tolist(),
            "runs_failed": counted.runs_failed.tolist(),
            "posts": counted.posts.tolist(),
            "replies": counted.replies.tolist(),
            "quotes": counted.quotes.tolist(),
            "interactions": counted.interactions.tolist(),
            "composite": judgement.composite.tolist(),
            "wash_confidence": judgement.wash_confidence.tolist(),
        }
        self._last_active_at = counted.last_active_at.tolist()
        self._creator_scores = judgement.creator_scores.tolist()
        self._components = {name: values.tolist() for name, values in judgement.components.items()}
        self._flags, self._evidence = judgement.flags, judgement.evidence

    def of(self, index: int) -> dict[str, Any]:
        """The columns of one agent's row."""
        last, creator_score = self._last_active_at[index], self._creator_scores[index]
        return {
            **{column: values[index] for column, values in self._counts.items()},
            "last_active_at": datetime.fromtimestamp(last, UTC) if last else None,
            # Unknown is not a number.
            "creator_score": creator_score if creator_score == creator_score else None,
            "components": {name: values[index] for name, values in self._components.items()},
            "wash_flags": list(self._flags[index]),
            "evidence": dict(self._evidence.get(index, {})),
        }
