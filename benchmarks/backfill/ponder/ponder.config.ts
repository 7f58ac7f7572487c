import { createConfig } from "ponder";
import { factoryAbi } from "./abi";

export default createConfig({
  database: { kind: "postgres", connectionString: process.env.DATABASE_URL! },
  chains: {
    base: { id: 8453, rpc: process.env.NODE_URLS!.split(",") },
  },
  contracts: {
    Factory: {
      chain: "base",
      abi: factoryAbi,
      address: "0xE85A59c628F7d27878ACeB4bf3b35733630083a9",
      startBlock: 0,
      endBlock: Number(process.env.LAST_BLOCK),
    },
  },
});
