"""Settings of off-chain documents of tokens."""

from config.environment.variables import env_bool, env_float, env_gateway, env_int, env_networks, load_env_file

# Imported before `config.settings` has loaded the file.
load_env_file()

# Whether the documents at the metadata URIs of launches are fetched. Anyone who launches a token chooses the host.
FETCH_DOCUMENTS = env_bool("FETCH_DOCUMENTS", True)
# Timeout of a document from the DNS lookup to the last byte, including all redirects.
DOCUMENT_TIMEOUT_SECONDS = env_float("DOCUMENT_TIMEOUT_SECONDS", 10.0, minimum=0.1, maximum=30.0)
# Maximum size of a decompressed document.
DOCUMENT_MAX_BYTES = env_int("DOCUMENT_MAX_BYTES", 256 * 1024, minimum=1024, maximum=16 * 2**20)
# Attempts to fetch a document before it counts as failed.
DOCUMENT_ATTEMPTS = env_int("DOCUMENT_ATTEMPTS", 12, minimum=1, maximum=100)
# Gateway for ipfs://CID/path, as <gateway>/CID/path; `off` disables such documents.
IPFS_GATEWAY_URL = env_gateway("IPFS_GATEWAY_URL", "https://ipfs.io/ipfs")
# Gateway for ar://ID.
ARWEAVE_GATEWAY_URL = env_gateway("ARWEAVE_GATEWAY_URL", "https://arweave.net")

# Non-public networks that may be fetched from, on any port, such as that of your own gateway. Anyone who launches a
# token may then send GET requests to them.
OUTBOUND_ALLOWED_NETWORKS = env_networks("OUTBOUND_ALLOWED_NETWORKS")
