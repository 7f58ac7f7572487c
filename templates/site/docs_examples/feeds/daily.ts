type Quote = { symbol: string; volume: string; fees: string };
type Sums = { day: string; trades: number; volumeUsd: string; feesUsd: string; quotes: Quote[] };

const response = await fetch("https://launchboard.example/api/feeds/daily/8453?day=2025-01-01");
if (!response.ok) throw new Error(await response.text());
const sums = (await response.json()) as Sums;
console.log(sums.day, sums.trades, "trades", sums.volumeUsd, sums.feesUsd);
for (const quote of sums.quotes) {
  console.log(quote.symbol, quote.volume, quote.fees);
}
