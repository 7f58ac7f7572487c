"""tokens/installation/installed_chains.py: the addresses of explorers' pages."""

import pytest

from tokens.installation import installed_chains

MINT, SIGNATURE = "So11111111111111111111111111111111111111112", "5" * 88


@pytest.mark.parametrize(
    ("page", "of_base", "of_solana"),
    [
        (installed_chains.explorer_token_page, "https://basescan.org/token/0xAb", f"https://solscan.io/token/{MINT}"),
        (
            installed_chains.explorer_transaction_page,
            "https://basescan.org/tx/0xAb",
            f"https://solscan.io/tx/{SIGNATURE}",
        ),
        (
            installed_chains.explorer_address_page,
            "https://basescan.org/address/0xAb",
            f"https://solscan.io/account/{MINT}",
        ),
    ],
)
def test_each_kind_of_chain_has_its_pages(page, of_base, of_solana):
    assert page(8453, "0xAb") == of_base
    assert page(101, SIGNATURE if page is installed_chains.explorer_transaction_page else MINT) == of_solana


@pytest.mark.parametrize(
    "page",
    [
        installed_chains.explorer_token_page,
        installed_chains.explorer_transaction_page,
        installed_chains.explorer_address_page,
    ],
)
def test_a_chain_that_is_not_known_has_none(page):
    assert page(424_242, "0xAb") is None
