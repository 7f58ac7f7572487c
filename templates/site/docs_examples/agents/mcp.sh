curl -s 'https://launchboard.example/mcp' -H 'content-type: application/json' \
  -H 'accept: application/json, text/event-stream' -H 'mcp-protocol-version: 2026-07-28' \
  -H 'mcp-method: tools/call' -H 'mcp-name: search_tokens' \
  -d '{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
    "name": "search_tokens", "arguments": {"q": "cat"},
    "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {}}}}'
