"""Ranking rows: agents' descriptions with their scores."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
from django.db.backends.utils import CursorWrapper

from leaderboard.models.snapshots import AUDIENCE_EVIDENCE
from leaderboard.ranking import scoring
from leaderboard.ranking.score_components import AUDIENCE
from leaderboard.ranking.scoring import AgentScores

# A blocked or unindexed token counts as no token. Sorted as `columns.Agents`.
_AGENTS = """
SELECT agent.id, agent.agent_id, agent.name, agent.fid, agent.token_chain_id, agent.token_address,
    COALESCE(token.name, ''), COALESCE(token.symbol, ''), agent.creator_fid,
    token.id IS NOT NULL AND NOT agent.is_hidden
FROM leaderboard_agent AS agent
LEFT JOIN tokens_token AS token ON token.chain_id = agent.token_chain_id
    AND token.contract_address = agent.token_address AND NOT token.unindexed AND NOT token.blocked
ORDER BY agent.id
"""


class AgentRow(NamedTuple):
    """Standing columns that describe the agent and its token; unknown values are None, unknown texts empty."""

    agent_id: int
    public_id: str
    agent_name: str
    fid: int | None
    token_chain_id: int | None
    token_address: str
    token_name: str
    token_symbol: str
    creator_fid: int | None
    # Whether the agent gets a rank: its token is listed, and operators have not hidden the agent. Not a column.
    is_ranked: bool


def read_agents(cursor: CursorWrapper) -> list[AgentRow]:
    """Return all agents, sorted as `columns.Agents`."""
    cursor.execute(_AGENTS)
    return [AgentRow(*row) for row in cursor.fetchall()]


def large_audience(agents: list[AgentRow], scores: AgentScores) -> float | None:
    """Return the component from which an audience is in the largest hundredth among ranked agents.

    None if there are fewer than a hundred ranked agents, or too few have an audience.
    """
    is_ranked = np.array([agent.is_ranked for agent in agents], dtype=np.bool_)
    components = np.sort(scores.components[AUDIENCE][is_ranked])
    number = len(components) // 100
    return float(components[-number]) or None if number else None


def build_standing_rows(agents: list[AgentRow], scores: AgentScores, *, snapshot_id: int) -> Iterator[dict[str, Any]]:
    """Yield a Standing's columns for each agent: ranked agents first, best first."""
    order = scoring.best_first(scores)
    is_ranked = np.array([agent.is_ranked for agent in agents], dtype=np.bool_)
    columns = _StandingColumns(scores)
    for rank, index in enumerate(order[is_ranked[order]].tolist(), start=1):
        yield {"snapshot_id": snapshot_id, "rank": rank, **_described(agents[index]), **columns.of(index)}
    for index in np.flatnonzero(~is_ranked).tolist():
        yield {"snapshot_id": snapshot_id, "rank": None, **_described(agents[index]), **columns.of(index)}


def _described(agent: AgentRow) -> dict[str, Any]:
    columns = agent._asdict()
    del columns["is_ranked"]
    return columns


class _StandingColumns:
    """Scores as Python numbers: converting numpy values one by one costs more than building a row."""

    def __init__(self, scores: AgentScores) -> None:
        tally = scores.tallies
        self._counts = {
            "runs_succeeded": tally.runs_succeeded.tolist(),
            "runs_failed": tally.runs_failed.tolist(),
            "posts": tally.posts.tolist(),
            "replies": tally.replies.tolist(),
            "quotes": tally.quotes.tolist(),
            "interactions": tally.interactions.tolist(),
            "composite": scores.composite.tolist(),
            "wash_confidence": scores.discounted.tolist(),
        }
        self._last_active_at = tally.last_active_at.tolist()
        self._creator_scores = scores.creator_scores.tolist()
        self._components = {name: values.tolist() for name, values in scores.components.items()}
        self._flags, self._evidence, self._audiences = scores.flags, scores.evidence, scores.audiences

    def of(self, index: int) -> dict[str, Any]:
        """Return one agent's row columns."""
        last_active_at, creator_score = self._last_active_at[index], self._creator_scores[index]
        audience = {AUDIENCE_EVIDENCE: self._audiences[index]} if index in self._audiences else {}
        return {
            **{column: values[index] for column, values in self._counts.items()},
            "last_active_at": datetime.fromtimestamp(last_active_at, UTC) if last_active_at else None,
            # NaN means unknown.
            "creator_score": creator_score if creator_score == creator_score else None,
            "components": {name: values[index] for name, values in self._components.items()},
            "wash_flags": list(self._flags[index]),
            "evidence": audience | self._evidence.get(index, {}),
        }
