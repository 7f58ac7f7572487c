type Amount = { amount: string | null; reason: string | null };
type Fees = { recipient: string; symbol: string | null; earned: Amount };
type Outcome = { marketCap: number | null; peakMarketCap: number | null };
type Launch = { token: { symbol: string }; outcome: Outcome; fees: Fees[] };
type Ledger = { totals: { launches: number; stillTraded: number }; launches: Launch[] };
type Found = { data: { key: string; launches: number }[] };

const url = "https://launchboard.example/api/creators/0x0000000000000000000000000000000000000003";
const response = await fetch(`${url}?limit=5&days=30`);
if (!response.ok) throw new Error(await response.text());
const { data: ledger } = (await response.json()) as { data: Ledger };
console.log(ledger.totals.launches, "launches,", ledger.totals.stillTraded, "still traded");
for (const launch of ledger.launches) {
  console.log(launch.token.symbol, launch.outcome.marketCap, launch.outcome.peakMarketCap);
  for (const fees of launch.fees) {
    console.log(fees.recipient, fees.symbol, fees.earned.amount ?? fees.earned.reason);
  }
}

const found = await fetch("https://launchboard.example/api/search-creator?q=alice");
if (!found.ok) throw new Error(await found.text());
for (const creator of ((await found.json()) as Found).data) {
  console.log(creator.key, creator.launches);
}
