type Block = { blockNumber: number; blockTimestamp: number };
type Event = { block: Block; eventType: string; pairId: string };
type Asset = { symbol: string; totalSupply: string };

const url = "https://launchboard.example/api/feeds/dextools/8453";

async function read<Answer>(path: string): Promise<Answer> {
  const response = await fetch(`${url}/${path}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

const newest = (await read<{ block: Block }>("latest-block")).block.blockNumber;
const { events } = await read<{ events: Event[] }>(`events?fromBlock=${newest - 99}&toBlock=${newest}`);
for (const event of events) {
  const { pair } = await read<{ pair: { factoryAddress: string } }>(`pair?id=${event.pairId}`);
  console.log(event.block.blockNumber, event.eventType, pair.factoryAddress);
}
const { asset } = await read<{ asset: Asset }>("asset?id=0x0000000000000000000000000000000000000001");
console.log(asset.symbol, asset.totalSupply);
