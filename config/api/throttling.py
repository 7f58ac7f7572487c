"""Rate limits for the API's callers, each with a setting for the calls per window; 0 is no limit."""

import math
from typing import Any

from django.conf import settings
from django.utils import timezone
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from config.api.errors import ServiceUnavailableError
from config.redis import call_counts
from config.redis.rate_limits import CountersUnavailableError, RateLimitResult, hit
from config.web.client_ip import client_address

_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


class RateLimit(BaseThrottle):
    """Base class for rate limits. A view lists further limits in `throttle_classes`."""

    # The setting's name, and the prefix for counter keys; the setting is read at each request.
    setting: str
    # Window length.
    seconds: int
    # Whether calls pass while Redis is down. If one too many does harm, they get 503 instead.
    fail_open = True

    result: RateLimitResult | None = None

    def caller(self, request: Request) -> str:
        """Return the key under which a caller's requests are counted."""
        raise NotImplementedError

    def allowed_calls(self, request: Request) -> int:
        """Return how many calls this caller has per window; 0 for no limit."""
        limit: int = getattr(settings, self.setting)
        return limit

    def usage(self, request: Request) -> str:
        """Return the field under which `config.redis.call_counts` counts the request; empty if it is not counted."""
        return ""

    def allow_request(self, request: Request, view: Any) -> bool:
        """Count the request, and store the result on the view, a LimitedView, for its response headers."""
        limit = self.allowed_calls(request)
        # If several limits apply, only one counts the usage.
        usage = "" if view.is_usage_counted else self.usage(request)
        view.is_usage_counted = True
        if limit == 0:
            if usage:
                call_counts.increment_count(usage)
            return True
        try:
            name = f"{self.setting}:{self.caller(request)}"
            self.result = hit(name, limit=limit, seconds=self.seconds, usage=usage)
        except CountersUnavailableError as error:
            if self.fail_open:
                return True
            raise ServiceUnavailableError from error
        view.limit_results += (self.result,)
        return self.result.allowed

    def wait(self) -> float | None:
        """Return the seconds until the window ends."""
        return None if self.result is None else self.result.reset_seconds


class AddressLimit(RateLimit):
    """Rate limit by client address."""

    def caller(self, request: Request) -> str:
        """Return the IPv4 address, or the IPv6 address's network."""
        return client_address(request._request)


class KeyLimit(RateLimit):
    """Rate limit by partner key, for views that require one."""

    def caller(self, request: Request) -> str:
        """Return the key's id: its secrets count together."""
        return str(request.auth.pk)

    def usage(self, request: Request) -> str:
        """Return the field that counts the key's calls to this endpoint today, in UTC."""
        match = request._request.resolver_match
        endpoint = (match.view_name or match.route) if match else ""
        return call_counts.count_field(day=timezone.now().date(), caller=request.auth.pk, endpoint=endpoint)


class UserLimit(RateLimit):
    """Rate limit by user, for views that require a user's token."""

    def caller(self, request: Request) -> str:
        """Return the lowest id among the user's linked persons: all their identities count together."""
        user: Any = request.user
        return str(min(user.person_ids))


class PublicLimit(AddressLimit):
    """Per-IP limit for unauthenticated requests and rejected credentials."""

    setting, seconds = "RATE_LIMIT_PUBLIC", _MINUTE


class AdminVerifyLimit(AddressLimit):
    """Per-IP limit on attempts to verify as an administrator; the database counts failed log-ins as well."""

    setting, seconds = "RATE_LIMIT_ADMIN_VERIFY", _MINUTE
    fail_open = False


class SignInLimit(AddressLimit):
    """Limit on calls to sign in with a wallet: each stores a nonce, or may call a node."""

    setting, seconds = "RATE_LIMIT_SIGN_IN", _MINUTE
    fail_open = False


class PartnerLimit(KeyLimit):
    """Limit on a partner key's calls, which each key may override."""

    setting, seconds = "RATE_LIMIT_KEYED", _MINUTE

    def allowed_calls(self, request: Request) -> int:
        """Return the key's `calls_per_minute`, or the setting if it has none."""
        key: Any = request.auth
        key_limit: int | None = key.calls_per_minute
        return super().allowed_calls(request) if key_limit is None else key_limit


class IndexLimit(KeyLimit):
    """Limit on index requests: each calls a node."""

    setting, seconds = "RATE_LIMIT_INDEX", _MINUTE


class DeployLimit(KeyLimit):
    """Daily limit on a partner key's launch requests, including replays and dry runs.

    It bounds the calls to our nodes. Quotas bound the spending; the database counts them, so that calls that are not
    counted here do no harm.
    """

    setting, seconds = "RATE_LIMIT_DEPLOY", _DAY


class UploadLimit(KeyLimit):
    """Limit on a partner key's uploads: each may take a second of CPU time.

    The stored bytes have a quota, which the database counts.
    """

    setting, seconds = "RATE_LIMIT_UPLOAD", _MINUTE


class SaveLimit(UserLimit):
    """Limit on a user's calls that save a launched token."""

    setting, seconds = "RATE_LIMIT_SAVE_TOKEN", _HOUR


class AnonymousSaveLimit(AddressLimit):
    """Limit on calls that save a launched token without a user's token.

    Each call queries a node, and nothing else bounds anonymous calls.
    """

    setting, seconds = "RATE_LIMIT_SAVE_TOKEN_ANONYMOUS", _HOUR
    fail_open = False


class TransactionLimit(KeyLimit):
    """Limit on a partner key's unsigned transactions: each is simulated by a node."""

    setting, seconds = "RATE_LIMIT_TRANSACTIONS", _MINUTE


class AnonymousTransactionLimit(AddressLimit):
    """Limit on unsigned transactions without a key. Each calls a node, and nothing else bounds anonymous calls."""

    setting, seconds = "RATE_LIMIT_TRANSACTIONS_ANONYMOUS", _MINUTE
    fail_open = False


class AgentEventsLimit(KeyLimit):
    """Limit on calls that report agents' events, many in one call."""

    setting, seconds = "RATE_LIMIT_AGENT_EVENTS", _MINUTE


class PretokenLimit(UserLimit):
    """Hourly limit on a user's calls that create pretokens. Each calls a node; rejected calls count."""

    setting, seconds = "RATE_LIMIT_PRETOKEN", _HOUR


def rate_limit_headers(limit_results: tuple[RateLimitResult, ...]) -> dict[str, str]:
    """Return the RateLimit headers; among several limits, for the exceeded one or else the closest to it."""
    if not limit_results:
        return {}
    nearest = min(limit_results, key=lambda result: (result.allowed, result.remaining, -result.reset_seconds))
    return {
        "RateLimit-Limit": str(nearest.limit),
        "RateLimit-Remaining": str(nearest.remaining),
        # Rounded up: a retry after it falls into a new window.
        "RateLimit-Reset": str(math.ceil(nearest.reset_seconds)),
    }
