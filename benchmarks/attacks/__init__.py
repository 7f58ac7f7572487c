"""Attacks of one client on the server of `make run`, each beside a bystander."""
