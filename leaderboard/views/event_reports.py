"""Telling of what agents did."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.models import Scope
from accounts.permissions import PartnerAccess, lacking
from config.api.concurrency_limits import writing_seat
from config.api.errors import NotAllowed
from config.api.throttling import AgentEventsLimit
from config.api.views import LimitedView
from config.json_rules import Problem, Refused, cut, join
from config.postgresql.timeouts import limited
from leaderboard.events import recording, request_body
from leaderboard.events.errors import BadEvents, LacksScores, NotYours, Trouble
from leaderboard.events.recording import Reporter
from leaderboard.events.serializers import EVENTS_ANSWER, EVENTS_BODY

# A statement of a full batch takes a hundredth of it.
_STATEMENT_MS = 3_000
# Others write, too, and long parts of files among them; the caller can come again, and the thread is wanted elsewhere.
_WAITING_MS = 1_000


class AgentEventsView(PartnerAccess, LimitedView):
    """Partners tell of their agents."""

    required_scope = Scope.AGENTS
    throttle_classes = [AgentEventsLimit]

    @extend_schema(operation_id="reportAgentEvents", request=EVENTS_BODY, responses={200: EVENTS_ANSWER})
    def post(self, request: Request) -> Response:
        """Tell of up to 1,000 events, all or none of which are taken; telling of them again adds nothing.

        Events of type agent are taken first, whatever their place. An agent that you describe first is yours: it is
        403 where others tell of it, as it is for you with theirs. A FID and a token are one agent's alone, the first's
        that is described with it: 400 names the event that would give it to another one. Events of type score need the
        scope `scores` besides: 403 without it. 503 asks you to come again.
        """
        partner: Any = request.auth
        try:
            events = request_body.read(request.data)
            with writing_seat(), limited(milliseconds=_STATEMENT_MS, waiting=_WAITING_MS):
                recorded = recording.record(events, reporter=Reporter.of_key(partner))
        except Refused as error:
            raise ValidationError(_by_field(error.problems)) from error
        except LacksScores as error:
            raise NotAllowed(lacking(Scope.SCORES), fields=_by_event(error)) from error
        except NotYours as error:
            raise NotAllowed(" ".join(_problem(error.troubles[0])), fields=_by_event(error)) from error
        except BadEvents as error:
            raise ValidationError(_by_event(error)) from error
        return Response({"success": True, "added": recorded.added, "known": recorded.known})


def _problem(trouble: Trouble) -> Problem:
    return join(f"events[{trouble.index}]", trouble.path), trouble.rule


def _by_event(error: BadEvents) -> dict[str, list[str]]:
    return _by_field(list(map(_problem, error.troubles)))


def _by_field(problems: list[Problem]) -> dict[str, list[str]]:
    details: dict[str, list[str]] = {}
    for path, rule in cut(problems):
        details.setdefault(path or "body", []).append(rule)
    return details
