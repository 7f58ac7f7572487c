"""Following Solana by the signature lists of its accounts."""
