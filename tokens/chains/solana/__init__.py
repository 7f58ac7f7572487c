"""Solana: transactions, accounts, and pools of Meteora's Dynamic Bonding Curve."""
