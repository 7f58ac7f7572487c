"""Presales as the public reads them: state and terms from the contract, and our own allow-lists."""
