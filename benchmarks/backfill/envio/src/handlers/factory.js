// The columns that one TokenCreated fills, as Ponder has them.
import { Factory } from "../../generated/index.js";
Factory.TokenCreated.handler(async ({ event, context }) => {
  const { params, block } = event;
  context.Token.set({
    id: params.tokenAddress,
    txHash: event.transaction.hash,
    logIndex: event.logIndex,
    blockNumber: block.number,
    blockHash: block.hash,
    deployedAt: block.timestamp,
    name: params.tokenName,
    symbol: params.tokenSymbol,
    image: params.tokenImage,
    metadata: params.tokenMetadata,
    context: params.tokenContext,
    admin: params.tokenAdmin,
    msgSender: params.msgSender,
    startingTick: params.startingTick,
    poolHook: params.poolHook,
    poolId: params.poolId,
    pairedToken: params.pairedToken,
    locker: params.locker,
    mevModule: params.mevModule,
    extensionsSupply: params.extensionsSupply,
  });
});
