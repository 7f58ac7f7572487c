"""View for reported events."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Scope
from accounts.permissions import PartnerAccess, missing_scope_text
from config.api.errors import FieldsForbiddenError
from config.api.throttling import AgentEventsLimit
from config.api.views import LimitedView
from config.parsing.json_rules import InvalidFieldsError, Problem, join_path, truncate_problems
from config.postgresql.timeouts import statement_timeout
from config.processes.concurrency_limits import write_slot
from leaderboard.events import recording, request_body
from leaderboard.events.errors import EventProblem, ForeignAgentError, InvalidEventsError, MissingScoresScopeError
from leaderboard.events.recording import Reporter
from leaderboard.events.responses import AgentEventsAnswer

# A full batch's statement takes a hundredth of this.
_STATEMENT_MS = 3_000
# Lock timeout: file imports hold the write lock for long. The caller can retry, and the thread serves others.
_WAITING_MS = 1_000


class AgentEventsView(PartnerAccess, LimitedView):
    """Endpoint for partners to report events about their agents."""

    required_scope = Scope.AGENTS
    throttle_classes = [AgentEventsLimit]

    @extend_schema(
        operation_id="reportAgentEvents",
        request=request_body.EVENTS_BODY.schema,
        responses={200: AgentEventsAnswer},
    )
    def post(self, request: Request) -> Response:
        """Report up to 1,000 events about your agents.

        A batch is recorded as a whole or rejected as a whole. Repeating it adds nothing. Events of type `agent` are
        applied first, whatever their position.

        - The key that first describes an agent owns it. Events about other reporters' agents are 403.
        - A FID and a token belong to only one agent, the first that is described with them. 400 names the event that
          would assign one to another agent.
        - `score` events also need the scope `scores`; without it they are 403.
        - 503 means that the server is busy: retry later.
        """
        partner: Any = request.auth
        try:
            events = request_body.parse_request_body(request.data)
            with write_slot(), statement_timeout(milliseconds=_STATEMENT_MS, lock_milliseconds=_WAITING_MS):
                recorded = recording.record_events(events, reporter=Reporter.for_key(partner))
        except InvalidFieldsError as error:
            raise ValidationError(_by_field(error.problems)) from error
        except MissingScoresScopeError as error:
            raise FieldsForbiddenError(missing_scope_text(Scope.SCORES), fields=_by_event(error)) from error
        except ForeignAgentError as error:
            raise FieldsForbiddenError(" ".join(_body_problem(error.problems[0])), fields=_by_event(error)) from error
        except InvalidEventsError as error:
            raise ValidationError(_by_event(error)) from error
        return Response(AgentEventsAnswer(success=True, added=recorded.added, known=recorded.known))


def _body_problem(problem: EventProblem) -> Problem:
    return join_path(f"events[{problem.index}]", problem.path), problem.rule


def _by_event(error: InvalidEventsError) -> dict[str, list[str]]:
    return _by_field(list(map(_body_problem, error.problems)))


def _by_field(problems: list[Problem]) -> dict[str, list[str]]:
    details: dict[str, list[str]] = {}
    for path, rule in truncate_problems(problems):
        details.setdefault(path or "body", []).append(rule)
    return details
