"""Creators of tokens and recipients of fees: their launches, what became of these, and their fees."""
