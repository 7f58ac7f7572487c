import { ponder } from "ponder:registry";
import { token } from "ponder:schema";

ponder.on("Factory:TokenCreated", async ({ event, context }) => {
  const { args, block, log, transaction } = event;
  await context.db.insert(token).values({
    address: args.tokenAddress,
    txHash: transaction.hash,
    logIndex: log.logIndex,
    blockNumber: block.number,
    blockHash: block.hash,
    deployedAt: block.timestamp,
    name: args.tokenName,
    symbol: args.tokenSymbol,
    image: args.tokenImage,
    metadata: args.tokenMetadata,
    context: args.tokenContext,
    admin: args.tokenAdmin,
    msgSender: args.msgSender,
    startingTick: args.startingTick,
    poolHook: args.poolHook,
    poolId: args.poolId,
    pairedToken: args.pairedToken,
    locker: args.locker,
    mevModule: args.mevModule,
    extensionsSupply: args.extensionsSupply,
  });
});
