"""Validation rules for a launch request's parts; pretokens use them as well."""
