"""tokens/installation/installed_registry.py: the addresses of explorers' pages."""

import pytest

from tokens.installation import installed_registry

MINT, SIGNATURE = "So11111111111111111111111111111111111111112", "5" * 88


@pytest.mark.parametrize(
    ("page", "of_base", "on_solana", "of_solana"),
    [
        (installed_registry.explorer_token_page, "token", MINT, "token"),
        (installed_registry.explorer_transaction_page, "tx", SIGNATURE, "tx"),
        (installed_registry.explorer_address_page, "address", MINT, "account"),
    ],
)
def test_each_kind_of_chain_has_its_pages_and_an_unknown_chain_has_none(page, of_base, on_solana, of_solana):
    assert page(8453, "0xAb") == f"https://basescan.org/{of_base}/0xAb"
    assert page(101, on_solana) == f"https://solscan.io/{of_solana}/{on_solana}"
    assert page(424_242, "0xAb") is None
