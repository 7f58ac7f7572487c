"""Tools for authors of launchpad declarations: a trial on real transactions, a draft from an ABI."""
