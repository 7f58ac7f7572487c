"""Environment variables of events and of outside services that profiles and documents come from."""

from attrs import frozen

from config.environment import kinds
from config.environment.variables import variable
from config.http.public_addresses import Network

# Days, and seconds.
_DECADE, _DAY = 3650, 86_400


@frozen(slots=False, repr=False)
class EventVariables:
    """Events, webhooks and their mails."""

    EVENT_DAYS: int = variable(kinds.whole_number(7, _DECADE), "14")
    """Retention of events and webhook deliveries in days, rounded up to weeks."""
    EVENT_HISTORY_HOURS: int = variable(kinds.whole_number(0, 24 * _DECADE), "24")
    """Age in hours of blocks from which a historical sync stores no events."""
    WEBHOOK_SCHEDULE_SECONDS: tuple[int, ...] = variable(
        kinds.several(kinds.whole_number(0, 7 * _DAY), "delays in seconds, separated by commas", at_least=1),
        "0,5,300,1800,7200,18000,36000,50400,72000,86400",
    )
    """Delays in seconds before each attempt of a webhook delivery, the first one after the event: 75.6 hours."""
    WEBHOOK_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 30.0), "15")
    """Timeout in seconds of an attempt, from the DNS lookup to the end of the response."""
    WEBHOOK_DISABLE_DAYS: int = variable(kinds.whole_number(1, 365), "5")
    """Days of nothing but failures after which an endpoint is disabled; its owner gets a notice after half of them."""
    WEBHOOK_THREADS: int = variable(kinds.whole_number(2, 256), "16")
    """Concurrent attempts of an `events` process, twice as many while some take over 0.1 s; each needs a connection to
    PostgreSQL."""
    WEBHOOK_ALLOWED_NETWORKS: tuple[Network, ...] = variable(kinds.networks, empty=())
    """Private networks that webhooks may be sent to, on any port and by http://. Every partner with the scope
    `webhooks` may then send POST requests to them."""
    EMAIL_HOST: str = variable(kinds.matching("[A-Za-z0-9.:-]{1,253}", "a host name or an address"))
    """Mail server for notices about webhook endpoints.

    Default: none: no mail
    """
    EMAIL_PORT: int = variable(kinds.whole_number(1, 65_535), "587")
    """Port of the mail server."""
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
    """Social profiles of deployers, and off-chain documents of tokens."""

    SOCIAL_API_KEY: str = variable(kinds.api_key, accepts_file=True)
    """Key of Neynar's API for deployers' profiles. Without it, and without a hub, profiles stay empty; `make run` shows
    sample ones instead.

    Default: none: `FARCASTER_HUB_URL`
    """
    FARCASTER_HUB_URL: str = variable(kinds.base_url)
    """HTTP API of a Farcaster hub, from which profiles come without a key. The hub also provides agents' casts.

    Example: http://127.0.0.1:3381
    """
    SOCIAL_BASE_URL: str = variable(kinds.base_url, "https://api.neynar.com")
    """URL of Neynar's API, or of a compatible one, used with a key."""
    SOCIAL_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 10.0), "5")
    """Timeout in seconds of the provider's connection, response head and body, each."""
    SOCIAL_REFRESH_HOURS: int = variable(kinds.whole_number(1, 8760), "24")
    """Age in hours at which a profile is fetched again."""
    FETCH_DOCUMENTS: bool = variable(kinds.switch, "true")
    """Whether the documents at the metadata URIs of Solana launches are fetched: description, picture and links. Anyone
    who launches a token chooses the host; only public addresses are contacted, on ports 80 and 443."""
    DOCUMENT_TIMEOUT_SECONDS: float = variable(kinds.number(0.1, 30.0), "10")
    """Timeout of one document in seconds, from the DNS lookup to the last byte, with all redirects."""
    DOCUMENT_MAX_BYTES: int = variable(kinds.whole_number(1024, 16 * 2**20), "262144")
    """Maximum size of a document in bytes, after decompression."""
    DOCUMENT_ATTEMPTS: int = variable(kinds.whole_number(1, 100), "12")
    """Attempts to fetch a document, with retry delays from 15 seconds up to a day."""
    IPFS_GATEWAY_URL: tuple[str, ...] = variable(kinds.gateways, "https://ipfs.io/ipfs,https://dweb.link/ipfs")
    """Gateways for `ipfs://CID/path`, as `<gateway>/CID/path`, several with commas between them: where one fails, or
    lacks the file, the next one is used; `off` disables such documents."""
    ARWEAVE_GATEWAY_URL: tuple[str, ...] = variable(kinds.gateways, "https://arweave.net")
    """The same for `ar://ID`, as `<gateway>/ID`."""
    OUTBOUND_ALLOWED_NETWORKS: tuple[Network, ...] = variable(kinds.networks, empty=())
    """Private addresses or networks that fetches of documents and pictures may reach, on any port, separated by commas.
    **Anyone who launches a token can send GET requests to them**: list single addresses, such as that of your own IPFS
    gateway.

    Example: 10.0.0.5,fd00:1::5
    """
