const parameters = new URLSearchParams({ q: "cat", sortBy: "market-cap", limit: "5" });
const response = await fetch(`https://launchboard.example/api/tokens?${parameters}`);
if (!response.ok) throw new Error(await response.text());
const page = (await response.json()) as { data: { symbol: string; name: string }[]; total: number };
console.log(page.total, "tokens");
for (const token of page.data) {
  console.log(token.symbol, token.name);
}
