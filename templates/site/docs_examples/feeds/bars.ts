type ChartSymbol = { ticker: string; name: string };
type Bars = { s: "ok"; t: number[]; c: number[] } | { s: "no_data"; nextTime?: number };

const url = "https://launchboard.example/api/feeds/udf";
const resolved = await fetch(`${url}/symbols?symbol=8453:0x0000000000000000000000000000000000000001.QUOTE`);
if (!resolved.ok) throw new Error(await resolved.text());
const symbol = (await resolved.json()) as ChartSymbol;
const query = `symbol=${symbol.ticker}&resolution=60&to=${Math.floor(Date.now() / 1000)}&countback=24`;
const bars = await fetch(`${url}/history?${query}`);
if (!bars.ok) throw new Error(await bars.text());
const found = (await bars.json()) as Bars;
if (found.s === "ok") found.t.forEach((at, place) => console.log(symbol.name, at, found.c[place]));
