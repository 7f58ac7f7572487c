"""Tools for authors who declare launchpads: a trial on real transactions, a draft from an ABI."""
