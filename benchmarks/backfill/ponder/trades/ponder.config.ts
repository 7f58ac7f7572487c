import { createConfig } from "ponder";

const swap = {
  type: "event",
  name: "Swap",
  inputs: [
    { name: "id", type: "bytes32", indexed: true },
    { name: "sender", type: "address", indexed: true },
    { name: "amount0", type: "int128", indexed: false },
    { name: "amount1", type: "int128", indexed: false },
    { name: "sqrtPriceX96", type: "uint160", indexed: false },
    { name: "liquidity", type: "uint128", indexed: false },
    { name: "tick", type: "int24", indexed: false },
    { name: "fee", type: "uint24", indexed: false },
  ],
} as const;

export default createConfig({
  database: { kind: "postgres", connectionString: process.env.DATABASE_URL! },
  chains: {
    base: { id: 8453, rpc: process.env.NODE_URLS!.split(",") },
  },
  contracts: {
    PoolManager: {
      chain: "base",
      abi: [swap],
      address: "0x498581fF718922c3f8e6A244956aF099B2652b2b",
      startBlock: 0,
      endBlock: Number(process.env.LAST_BLOCK),
    },
  },
});
