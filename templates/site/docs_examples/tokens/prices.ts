type MarketCap = { address: string; marketCap: number | null; marketDataUpdatedAt: string | null };

const addresses = ["0x0000000000000000000000000000000000000001"];
const parameters = new URLSearchParams({ chainId: "8453", addresses: addresses.join(",") });
const response = await fetch(`https://launchboard.example/api/tokens/marketcap?${parameters}`);
if (!response.ok) throw new Error(await response.text());
const { data } = (await response.json()) as { data: MarketCap[] };
for (const token of data) {
  console.log(token.address, token.marketCap, token.marketDataUpdatedAt);
}
