"""The limits of the API's callers. Each has a setting with the number of calls in its window; 0 is no limit."""

import math
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from config.api.client_ip import client_address
from config.api.errors import Unavailable
from config.redis import call_counts
from config.redis.rate_limits import CountersUnavailable, Verdict, take

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


class Limit(BaseThrottle):
    """Counts a caller's requests. A further limit is a class with these values, in `throttle_classes` of its views."""

    # The name of the setting, and so of the counters; the setting is read at each request.
    setting: str
    # How long a window is.
    seconds: int
    # Whether calls pass while they can't be counted; where one too many does harm, they are refused with 503.
    passes_uncounted = True

    verdict: Verdict | None = None

    def caller(self, request: Request) -> str:
        """Whose calls are counted together."""
        raise NotImplementedError

    def allowed_calls(self, request: Request) -> int:
        """How many calls of this caller pass in a window, 0 for any number."""
        limit: int = getattr(settings, self.setting)
        return limit

    def usage(self, request: Request) -> str:
        """What the request is counted as in `config.redis.call_counts`; empty where nobody wants to know."""
        return ""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count the request. The verdict goes to the view, a LimitedView, for the headers of its answer."""
        limit = self.allowed_calls(request)
        # Of several limits, one counts the usage.
        usage = "" if view.is_metered else self.usage(request)
        view.is_metered = True
        if limit == 0:
            if usage:
                call_counts.count(usage)
            return True
        try:
            name = f"{self.setting}:{self.caller(request)}"
            self.verdict = take(name, limit=limit, seconds=self.seconds, usage=usage)
        except CountersUnavailable as error:
            if self.passes_uncounted:
                return True
            raise Unavailable from error
        view.verdicts += (self.verdict,)
        return self.verdict.allowed

    def wait(self) -> float | None:
        """The seconds until the window ends."""
        return None if self.verdict is None else self.verdict.reset_seconds


class AddressLimit(Limit):
    """Counts by the client's address."""

    def caller(self, request: Request) -> str:
        """Its IPv4 address, or the network of its IPv6 address."""
        return client_address(request._request)


class KeyLimit(Limit):
    """Counts by partner key, for views that ask for one."""

    def caller(self, request: Request) -> str:
        """The key's number: its secrets count together."""
        return str(request.auth.pk)

    def usage(self, request: Request) -> str:
        """The key's calls of this endpoint today, by UTC."""
        match = request._request.resolver_match
        endpoint = (match.view_name or match.route) if match else ""
        return call_counts.field(day=timezone.now().date(), caller=request.auth.pk, endpoint=endpoint)


class UserLimit(Limit):
    """Counts by user, for views that ask for a user's token."""

    def caller(self, request: Request) -> str:
        """The lowest of the numbers by which the user is known: his identities count together."""
        user: Any = request.user
        return str(min(user.person_ids))


class PublicLimit(AddressLimit):
    """What needs no key, and calls whose credential is refused."""

    setting, seconds = "RATE_LIMIT_PUBLIC", _MINUTE


class AdminVerifyLimit(AddressLimit):
    """Guessing at passwords and tokens of administrators; log-ins that fail are counted in the database besides."""

    setting, seconds = "RATE_LIMIT_ADMIN_VERIFY", _MINUTE
    passes_uncounted = False


class PartnerLimit(KeyLimit):
    """What partners call with their keys, each of which may have a number of its own."""

    setting, seconds = "RATE_LIMIT_KEYED", _MINUTE

    def allowed_calls(self, request: Request) -> int:
        """The key's `calls_per_minute`, or the setting where it has none."""
        key: Any = request.auth
        own: int | None = key.calls_per_minute
        return super().allowed_calls(request) if own is None else own


class IndexLimit(KeyLimit):
    """Indexing on request, each of which asks a node."""

    setting, seconds = "RATE_LIMIT_INDEX", _MINUTE


class DeployLimit(KeyLimit):
    """Ordering launches: every call of a partner key in a day, also those that repeat an order or only rehearse one.

    It bounds what our nodes are asked. What may be spent is bounded by quotas, which are counted in the database, so
    that calls which can't be counted here do no harm.
    """

    setting, seconds = "RATE_LIMIT_DEPLOY", _DAY


class SaveLimit(UserLimit):
    """Saying that a token was launched: users who are known."""

    setting, seconds = "RATE_LIMIT_SAVE_TOKEN", _HOUR


class AnonymousSaveLimit(AddressLimit):
    """The same without a token. Nothing else bounds what nobody answers for, each of which asks a node."""

    setting, seconds = "RATE_LIMIT_SAVE_TOKEN_ANONYMOUS", _HOUR
    passes_uncounted = False


class AgentEventsLimit(KeyLimit):
    """Telling of events about agents, which are many in a call."""

    setting, seconds = "RATE_LIMIT_AGENT_EVENTS", _MINUTE


class PretokenLimit(UserLimit):
    """Making pretokens, each of which asks a node; every call of a user in an hour, also those that are refused."""

    setting, seconds = "RATE_LIMIT_PRETOKEN", _HOUR


def rate_limit_headers(verdicts: tuple[Verdict, ...]) -> dict[str, str]:
    """What an answer says of the limit that it met; of several, that of the one which refuses, or is nearest to it."""
    if not verdicts:
        return {}
    nearest = min(verdicts, key=lambda verdict: (verdict.allowed, verdict.remaining, -verdict.reset_seconds))
    return {
        "RateLimit-Limit": str(nearest.limit),
        "RateLimit-Remaining": str(nearest.remaining),
        # Rounded up: whoever comes back then finds a new window.
        "RateLimit-Reset": str(math.ceil(nearest.reset_seconds)),
    }
