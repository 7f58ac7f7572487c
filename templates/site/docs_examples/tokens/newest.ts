type Token = { chain_id: number; contract_address: string; symbol: string; priceUsd: number | null };

const response = await fetch("https://launchboard.example/api/tokens?limit=5&includeMarket=1");
if (!response.ok) throw new Error(await response.text());
const page = (await response.json()) as { data: Token[]; cursor: string | null };
for (const token of page.data) {
  console.log(token.chain_id, token.contract_address, token.symbol, token.priceUsd);
}
// The next page: the same request with cursor=${encodeURIComponent(page.cursor)}.
