"""The knobs of documents outside of the chain, which `config.settings` takes in."""

from config.environment.variables import env_bool, env_float, env_gateway, env_int, env_networks, load_env_file

# This module is imported before the settings have read it.
load_env_file()

# Whether the documents are fetched by whose URIs launches describe tokens. Anybody who launches a token names a host.
FETCH_DOCUMENTS = env_bool("FETCH_DOCUMENTS", True)
# How long a document may take, from looking up its host to its last byte, with all redirects.
DOCUMENT_TIMEOUT_SECONDS = env_float("DOCUMENT_TIMEOUT_SECONDS", 10.0, minimum=0.1, maximum=30.0)
# How large a document may be once it is unpacked.
DOCUMENT_MAX_BYTES = env_int("DOCUMENT_MAX_BYTES", 256 * 1024, minimum=1024, maximum=16 * 2**20)
# How often a document is asked for before it is given up.
DOCUMENT_ATTEMPTS = env_int("DOCUMENT_ATTEMPTS", 12, minimum=1, maximum=100)
# Where ipfs://CID/path is found, as <gateway>/CID/path; `off` leaves such documents alone.
IPFS_GATEWAY_URL = env_gateway("IPFS_GATEWAY_URL", "https://ipfs.io/ipfs")
# The same for ar://ID.
ARWEAVE_GATEWAY_URL = env_gateway("ARWEAVE_GATEWAY_URL", "https://arweave.net")

# Networks that are asked under any port although they are not public, such as that of a gateway of yours. Whoever
# launches a token may then have anything there asked for with GET.
OUTBOUND_ALLOWED_NETWORKS = env_networks("OUTBOUND_ALLOWED_NETWORKS")
