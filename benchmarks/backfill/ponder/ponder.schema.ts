import { onchainTable } from "ponder";

// The columns that one TokenCreated fills, and no index but the primary key.
export const token = onchainTable("token", (t) => ({
  address: t.hex().primaryKey(),
  txHash: t.hex().notNull(),
  logIndex: t.integer().notNull(),
  blockNumber: t.bigint().notNull(),
  blockHash: t.hex().notNull(),
  deployedAt: t.bigint().notNull(),
  name: t.text().notNull(),
  symbol: t.text().notNull(),
  image: t.text().notNull(),
  metadata: t.text().notNull(),
  context: t.text().notNull(),
  admin: t.hex().notNull(),
  msgSender: t.hex().notNull(),
  startingTick: t.integer().notNull(),
  poolHook: t.hex().notNull(),
  poolId: t.hex().notNull(),
  pairedToken: t.hex().notNull(),
  locker: t.hex().notNull(),
  mevModule: t.hex().notNull(),
  extensionsSupply: t.bigint().notNull(),
}));
