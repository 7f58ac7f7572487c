"""Event subscriptions: the catch-up list, webhook endpoints and event delivery to them."""
