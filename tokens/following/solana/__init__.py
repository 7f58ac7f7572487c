"""Following of Solana by the signature lists of accounts."""
