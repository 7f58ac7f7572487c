"""Environment variables for events, and for outside services that provide profiles and documents."""

from attrs import frozen

from config.environment import kinds
from config.environment.variables import variable
from config.http.public_addresses import Network

# Days.
_DECADE = 3650


@frozen(slots=False, repr=False)
class EventVariables:
    """Events, webhooks and their mails."""

    EVENT_DAYS: int = variable(kinds.whole_number(7, _DECADE), "14")
    """Retention in days for events and webhook deliveries, rounded up to weeks."""
    EVENT_HISTORY_HOURS: int = variable(kinds.whole_number(0, 24 * _DECADE), "24")
    """Block age in hours from which a historical sync stores no events."""
    WEBHOOK_THREADS: int = variable(kinds.whole_number(2, 256), "16")
    """Concurrent attempts in an `events` process, twice as many while some take over 0.1 s; each needs a connection to
    PostgreSQL."""
    WEBHOOK_ALLOWED_NETWORKS: tuple[Network, ...] = variable(kinds.networks, empty=())
    """Private networks that may receive webhooks, on any port and by http://. Every partner with the scope `webhooks`
    may then send POST requests to them."""
    EMAIL_HOST: str = variable(kinds.matching("[A-Za-z0-9.:-]{1,253}", "a host name or an address"))
    """Mail server for notices about webhook endpoints.

    Default: none: no mail
    """
    EMAIL_PORT: int = variable(kinds.whole_number(1, 65_535), "587")
    """Mail server's port."""
    EMAIL_USE_TLS: bool = variable(kinds.switch, "true")
    """Whether the connection to the mail server is encrypted by STARTTLS."""
    EMAIL_HOST_USER: str = variable(str)
    """User name at the mail server; empty for none."""
    EMAIL_HOST_PASSWORD: str = variable(str, accepts_file=True)
    """Password at the mail server."""
    EMAIL_FROM: str = variable(kinds.matching("[^@\\s]+@[^@\\s]+", "a mail address"))
    """Sender of mails.

    Default: `launchboard@<host of SITE_URL>`
    """
    OPERATOR_EMAILS: tuple[str, ...] = variable(
        kinds.several(kinds.matching("[^@\\s,]+@[^@\\s,]+"), "mail addresses, separated by commas"), empty=()
    )
    """Operators who get the notices about all endpoints, separated by commas."""


@frozen(slots=False, repr=False)
class DocumentVariables:
    """Deployers' social profiles, and tokens' off-chain documents."""

    SOCIAL_API_KEY: str = variable(kinds.api_key, accepts_file=True)
    """Key for Neynar's API, which has deployers' profiles. Without it, and without a hub, profiles stay empty;
    `make run` shows sample profiles instead.

    Default: none: `FARCASTER_HUB_URL`
    """
    FARCASTER_HUB_URL: str = variable(kinds.base_url)
    """HTTP API of a Farcaster hub, from which profiles come without a key. The hub also provides agents' casts.

    Example: http://127.0.0.1:3381
    """
    SOCIAL_BASE_URL: str = variable(kinds.base_url, "https://api.neynar.com")
    """URL of Neynar's API or a compatible one, used with a key."""
    SOCIAL_REFRESH_HOURS: int = variable(kinds.whole_number(1, 8760), "24")
    """Hours until a profile is fetched again."""
    FETCH_DOCUMENTS: bool = variable(kinds.switch, "true")
    """Whether documents at Solana launches' metadata URIs are fetched: description, picture and links. Anyone who
    launches a token chooses the host; only public addresses are contacted, on ports 80 and 443."""
    IPFS_GATEWAY_URL: tuple[str, ...] = variable(kinds.gateways, "https://ipfs.io/ipfs,https://dweb.link/ipfs")
    """Gateways for `ipfs://CID/path`, fetched as `<gateway>/CID/path`, separated by commas. If a gateway fails or lacks
    the file, the next one is used; `off` disables such documents."""
    ARWEAVE_GATEWAY_URL: tuple[str, ...] = variable(kinds.gateways, "https://arweave.net")
    """Gateways for `ar://ID`, fetched as `<gateway>/ID`; otherwise as for IPFS."""
    OUTBOUND_ALLOWED_NETWORKS: tuple[Network, ...] = variable(kinds.networks, empty=())
    """Private addresses or networks that document and picture fetches may reach on any port, separated by commas.
    **Anyone who launches a token can send GET requests to them**: list single addresses, such as your own IPFS
    gateway's.

    Example: 10.0.0.5,fd00:1::5
    """
