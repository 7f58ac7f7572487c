"""JSON-RPC to a chain's nodes: client, endpoints, batches and responses."""
