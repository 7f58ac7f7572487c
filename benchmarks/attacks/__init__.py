"""Attacks by one client on the `make run` server, each beside a bystander."""
