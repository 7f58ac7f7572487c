"""Validation rules for the parts of a launch request; pretokens use them as well."""
