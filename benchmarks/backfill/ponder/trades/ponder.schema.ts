import { index, onchainTable, primaryKey } from "ponder";

export const trade = onchainTable(
  "trade",
  (t) => ({
    id: t.text().primaryKey(),
    pool: t.hex().notNull(),
    timestamp: t.bigint().notNull(),
    blockNumber: t.bigint().notNull(),
    logIndex: t.integer().notNull(),
    txHash: t.hex().notNull(),
    trader: t.hex().notNull(),
    isBuy: t.boolean().notNull(),
    isConversion: t.boolean().notNull(),
    amountToken: t.bigint().notNull(),
    amountQuote: t.bigint().notNull(),
    sqrtPrice: t.bigint().notNull(),
  }),
  (table) => ({ byTime: index().on(table.pool, table.timestamp) }),
);

export const hourCandle = onchainTable(
  "hour_candle",
  (t) => ({
    pool: t.hex().notNull(),
    hour: t.bigint().notNull(),
    open: t.doublePrecision().notNull(),
    high: t.doublePrecision().notNull(),
    low: t.doublePrecision().notNull(),
    close: t.doublePrecision().notNull(),
    volumeQuote: t.bigint().notNull(),
    trades: t.integer().notNull(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.pool, table.hour] }) }),
);
