"""Environment variables for access: operator log-in, user quotas and rate limits."""

from attrs import frozen

from config.environment import kinds
from config.environment.variables import variable

# Days.
_DECADE = 3650
_CALLS = (0, 1_000_000)


@frozen(slots=False, repr=False)
class OperatorVariables:
    """Users and operators: log-in, and what users store."""

    ADMIN_TOTP_REQUIRED: bool = variable(kinds.switch, "false")
    """Whether every operator needs a second factor (codes from an authenticator app). A second factor that is set up is
    always required."""
    ADMIN_SESSION_HOURS: int = variable(kinds.whole_number(1, 8760), "12")
    """Session length in hours, for operators and administrators."""
    PRETOKEN_KEPT_DAYS: int = variable(kinds.whole_number(0, _DECADE), "7")
    """Retention in days for deleted, expired and deployed pretokens; a deployed pretoken's row stays."""
    KEY_USAGE_DAYS: int = variable(kinds.whole_number(1, _DECADE), "400")
    """Retention in days for partner keys' usage counts."""


@frozen(slots=False, repr=False)
class RateLimitVariables:
    """Rate limits for the API and the public site; 0 is no limit."""

    RATE_LIMIT_PUBLIC: int = variable(kinds.whole_number(*_CALLS), "120")
    """Calls a minute by client address, without a key or with a rejected one (401)."""
    RATE_LIMIT_KEYED: int = variable(kinds.whole_number(*_CALLS), "600")
    """Calls a minute by partner key, over all its secrets; a key's "Calls per minute" overrides it."""
    RATE_LIMIT_PAGES: int = variable(kinds.whole_number(*_CALLS), "300")
    """Public pages a minute by client address. Documents, error pages and the operators' log-in page count, too; pages
    from a cache do not."""
    RATE_LIMIT_PICTURES: int = variable(kinds.whole_number(*_CALLS), "6000")
    """Token pictures a minute by client address; a page has 20."""
    RATE_LIMIT_CARDS: int = variable(kinds.whole_number(*_CALLS), "60")
    """[Share cards](site.md#share-cards) a minute by client address; drawing one takes 80 ms."""
    RATE_LIMIT_INDEX: int = variable(kinds.whole_number(*_CALLS), "10")
    """Index calls a minute by partner key."""
    RATE_LIMIT_DEPLOY: int = variable(kinds.whole_number(*_CALLS), "10000")
    """Deploy calls a day by partner key, dry runs and repeated request keys included. Also the default quota for
    deployments by key and chain per day in UTC."""
    RATE_LIMIT_UPLOAD: int = variable(kinds.whole_number(*_CALLS), "30")
    """Uploads a minute by partner key."""
    RATE_LIMIT_AGENT_EVENTS: int = variable(kinds.whole_number(*_CALLS), "120")
    """Calls that report agents' events, a minute by partner key; each may have 1,000 events."""
    RATE_LIMIT_PRETOKEN: int = variable(kinds.whole_number(*_CALLS), "20")
    """New pretokens an hour by user, refused calls included."""
    RATE_LIMIT_SAVE_TOKEN: int = variable(kinds.whole_number(*_CALLS), "60")
    """Saved tokens an hour by user."""
    RATE_LIMIT_SAVE_TOKEN_ANONYMOUS: int = variable(kinds.whole_number(*_CALLS), "30")
    """Saved tokens an hour by client address, without a user's token. Without Redis they are 503."""
    RATE_LIMIT_TRANSACTIONS: int = variable(kinds.whole_number(*_CALLS), "120")
    """[Unsigned transactions](transactions.md) a minute by partner key; a node simulates each."""
    RATE_LIMIT_TRANSACTIONS_ANONYMOUS: int = variable(kinds.whole_number(*_CALLS), "20")
    """Unsigned transactions a minute by client address, without a key. Without Redis they are 503."""
    RATE_LIMIT_SIGN_IN: int = variable(kinds.whole_number(*_CALLS), "20")
    """Calls to sign in with a wallet, a minute by client address; a sign-in takes two. Without Redis they are 503."""
    RATE_LIMIT_LOGIN: int = variable(kinds.whole_number(*_CALLS), "20")
    """Passwords and second-factor codes a minute by client address, over all names. It covers the admin site and
    administrator log-ins."""
