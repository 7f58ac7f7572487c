type Trades = { data: { side: string; valueUsd: number | null }[] };
type Candles = { data: { t: string; o: number; h: number; l: number; c: number }[] };

const url = "https://launchboard.example/api/tokens/8453/0x0000000000000000000000000000000000000001";
const trades = await fetch(`${url}/trades?limit=20`);
if (!trades.ok) throw new Error(await trades.text());
for (const trade of ((await trades.json()) as Trades).data) {
  console.log(trade.side, trade.valueUsd);
}

const candles = await fetch(`${url}/candles?interval=1h&currency=usd`);
if (!candles.ok) throw new Error(await candles.text());
for (const candle of ((await candles.json()) as Candles).data) {
  console.log(candle.t, candle.o, candle.h, candle.l, candle.c);
}
