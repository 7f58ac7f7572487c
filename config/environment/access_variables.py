"""Environment variables of access: log-in of operators, quotas of users, and rate limits."""

from attrs import frozen

from config.environment import kinds
from config.environment.variables import variable

# Days.
_DECADE = 3650
_CALLS = (0, 1_000_000)


@frozen(slots=False, repr=False)
class OperatorVariables:
    """Users and operators: log-in, and what users store."""

    IDENTITY_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 10.0), "3")
    """Timeout in seconds of the connection, response head and body of an issuer's keys, each; also of a request that
    waits for another one to fetch them."""
    ADMIN_TOTP_REQUIRED: bool = variable(kinds.switch, "false")
    """Whether every operator needs a second factor (codes of an authenticator app). One that is set up is always
    required."""
    LOGIN_FAILURE_LIMIT: int = variable(kinds.whole_number(1, 1000), "5")
    """Wrong passwords for one name from one address until that name is locked out there."""
    LOGIN_LOCK_MINUTES: int = variable(kinds.whole_number(1, 10_080), "15")
    """Minutes of the lock-out after the last of them."""
    ADMIN_SESSION_HOURS: int = variable(kinds.whole_number(1, 8760), "12")
    """Length in hours of an operator's session, and of an administrator's."""
    PRETOKEN_KEPT_DAYS: int = variable(kinds.whole_number(0, _DECADE), "7")
    """Retention in days of deleted, expired or deployed pretokens; of a deployed one the row stays."""
    PRETOKEN_ROOM_BYTES: int = variable(kinds.whole_number(2**20, 2**40), "134217728")
    """Storage quota in bytes of all pretokens of a user, whatever their state (128 MiB)."""
    KEY_USAGE_DAYS: int = variable(kinds.whole_number(1, _DECADE), "400")
    """Retention in days of the usage counts of partner keys."""


@frozen(slots=False, repr=False)
class RateLimitVariables:
    """Rate limits of the API and the public site; 0 is no limit."""

    RATE_LIMIT_PUBLIC: int = variable(kinds.whole_number(*_CALLS), "120")
    """Calls a minute by client address, without a key or with a rejected one (401)."""
    RATE_LIMIT_KEYED: int = variable(kinds.whole_number(*_CALLS), "600")
    """Calls a minute by partner key, over all its secrets; "Calls per minute" of a key overrides it."""
    RATE_LIMIT_PAGES: int = variable(kinds.whole_number(*_CALLS), "300")
    """Pages of the public site a minute by client address, with documents, error pages and the operators' log-in page;
    those that a cache serves do not count."""
    RATE_LIMIT_PICTURES: int = variable(kinds.whole_number(*_CALLS), "6000")
    """The same for pictures of tokens: 20 for each page."""
    RATE_LIMIT_CARDS: int = variable(kinds.whole_number(*_CALLS), "60")
    """The same for [share cards](operating.md#share-cards), which are drawn for 80 ms each."""
    RATE_LIMIT_INDEX: int = variable(kinds.whole_number(*_CALLS), "10")
    """Index calls a minute by partner key."""
    RATE_LIMIT_DEPLOY: int = variable(kinds.whole_number(*_CALLS), "10000")
    """Deploy calls a day by partner key, dry runs and repeated request keys included; also the default quota of
    deployments of a key and chain per day in UTC."""
    RATE_LIMIT_UPLOAD: int = variable(kinds.whole_number(*_CALLS), "30")
    """Uploads a minute by partner key."""
    RATE_LIMIT_AGENT_EVENTS: int = variable(kinds.whole_number(*_CALLS), "120")
    """Calls a minute by partner key that report agents' events, of up to 1,000 events each."""
    RATE_LIMIT_PRETOKEN: int = variable(kinds.whole_number(*_CALLS), "20")
    """New pretokens an hour by user, refused calls included."""
    RATE_LIMIT_SAVE_TOKEN: int = variable(kinds.whole_number(*_CALLS), "60")
    """Saved tokens an hour by user."""
    RATE_LIMIT_SAVE_TOKEN_ANONYMOUS: int = variable(kinds.whole_number(*_CALLS), "30")
    """Saved tokens an hour by client address, without a user's token. Without Redis they are 503."""
    RATE_LIMIT_LOGIN: int = variable(kinds.whole_number(*_CALLS), "20")
    """Passwords and second factors' codes a minute by client address, over all names, on the admin site and for
    administrator log-ins."""
    RATE_LIMIT_ADMIN_VERIFY: int = variable(kinds.whole_number(*_CALLS), "5")
    """Administrator log-ins a minute by client address, rejected ones included. Without Redis they are 503."""
