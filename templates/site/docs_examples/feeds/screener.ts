type Block = { blockNumber: number; blockTimestamp: number };
type Event = { block: Block; eventType: string; pairId: string; priceNative?: string };

const url = "https://launchboard.example/api/feeds/dexscreener/8453";

async function read<Answer>(path: string): Promise<Answer> {
  const response = await fetch(`${url}/${path}`);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

const newest = (await read<{ block: Block }>("latest-block")).block.blockNumber;
const { events } = await read<{ events: Event[] }>(`events?fromBlock=${newest - 99}&toBlock=${newest}`);
for (const event of events) {
  console.log(event.block.blockNumber, event.eventType, event.pairId, event.priceNative);
  const { pair } = await read<{ pair: { asset0Id: string } }>(`pair?id=${event.pairId}`);
  console.log(pair.asset0Id);
}
