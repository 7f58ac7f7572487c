"""Subscriptions to events: the catch-up list, webhook endpoints and the delivery of events to them."""
