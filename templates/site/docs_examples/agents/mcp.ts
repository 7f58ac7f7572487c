type Token = { chain_id: number; contract_address: string; symbol: string };
type Reply = { error?: { message: string }; result?: { structuredContent?: { data: Token[] } } };

const response = await fetch("https://launchboard.example/mcp", {
  method: "POST",
  headers: {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": "tools/call",
    "mcp-name": "search_tokens",
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "search_tokens",
      arguments: { q: "cat" },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  }),
});
const reply = (await response.json()) as Reply;
if (reply.error) throw new Error(reply.error.message);
for (const token of reply.result?.structuredContent?.data ?? []) {
  console.log(token.chain_id, token.contract_address, token.symbol);
}
