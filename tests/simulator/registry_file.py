"""Registry files with simulated chains, which have Base's contracts."""

import re
from collections.abc import Iterable
from pathlib import Path

from config.environment.variables import BASE_DIR
from tests.simulator.declared_launches import declaration


def write_registry_file(path: Path, chain_ids: Iterable[int], *, finality_depth: int) -> None:
    """Write a registry file with a chain for each id, and the launchpad that the simulator declares, off."""
    ids = list(chain_ids)
    text = (BASE_DIR / "tokens" / "chains" / "registry" / "table.toml").read_text(encoding="utf-8")
    found = re.search(r"^\[chains\.8453\]\n(.*?)^\[chains\.", text, re.DOTALL | re.MULTILINE)
    assert found
    body = re.sub(r"^finality_depth = .*$", f"finality_depth = {finality_depth}", found[1], flags=re.MULTILINE)
    body = re.sub(r"^market_network = .*\n", "", body, flags=re.MULTILINE)
    path.write_text("\n".join(f"[chains.{chain_id}]\n{body}" for chain_id in ids) + declaration(ids), encoding="utf-8")
