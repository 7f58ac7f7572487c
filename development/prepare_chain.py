"""`python -m development.prepare_chain RPC_URL CHAINS_FILE`: puts the contracts onto the development chain.

A process of its own for `make run`, which would otherwise keep the chain libraries in memory for as long as it runs.
"""

import sys
from pathlib import Path

from development.devchain import deploy_contracts


def main() -> None:
    rpc_url, chains_file = sys.argv[1:]
    try:
        deploy_contracts.prepare(rpc_url, chains_file=Path(chains_file))
    except deploy_contracts.NotFresh as error:
        sys.exit(f"{error}: remove the chain's file in the local directory")


if __name__ == "__main__":
    main()
