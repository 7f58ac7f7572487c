// Prints the SDK's call (contract, value, calldata) for each line's launch body, with the salt zero.
import { createInterface } from "node:readline";
import {
  createAllowlistMerkleTree, createMerkleTree, encodeAllowlistInitializationData, getAllowlistAddress,
  getTickFromMarketCapStable, POOL_POSITIONS,
} from "clanker-sdk";
import { Clanker } from "clanker-sdk/v4";
import { getStartPresaleTransaction } from "clanker-sdk/v4/extensions";
import { encodeFunctionData } from "viem";

const DAY = 86_400;
const bps = (percent) => Math.round(percent * 100);

function lock({ lockupDuration, vestingDuration }) {
  return { lockupDuration: lockupDuration * DAY, vestingDuration: vestingDuration * DAY };
}

// The SDK has positions for a start at 10 coins, and leaves other starts to its caller: the same positions, shifted.
function pool({ pairedToken, type, initialMarketCap }, decimals) {
  const tick = getTickFromMarketCapStable(initialMarketCap, decimals[pairedToken] ?? 18);
  const preset = POOL_POSITIONS[type === "project" ? "Project" : "Standard"];
  const shift = tick - preset[0].tickLower;
  const positions = preset.map(({ tickLower, tickUpper, positionBps }) => (
    { tickLower: tickLower + shift, tickUpper: tickUpper + shift, positionBps }));
  return { pairedToken, tickIfToken0IsClanker: tick, tickSpacing: 200, positions };
}

function fees({ type, clankerFee, pairedFee, baseFee, maxLpFee, ...others }) {
  if (type === "static") return { type, clankerFee: bps(clankerFee), pairedFee: bps(pairedFee) };
  return { type, baseFee: bps(baseFee), maxFee: bps(maxLpFee), ...others };
}

function airdrop({ entries, ...times }) {
  const amount = entries.reduce((sum, entry) => sum + entry.amount, 0);
  return { merkleRoot: createMerkleTree(entries).root, amount, ...lock(times) };
}

function metadata({ description, socialMediaUrls, auditUrls }) {
  const texts = { description, socialMediaUrls, auditUrls };
  return Object.values(texts).some((value) => value !== undefined) ? { metadata: texts } : {};
}

function allowlist(presale, chainId) {
  if (!presale.allowlist) return {};
  const buyers = presale.allowlist.map((address) => ({ address, allowedAmount: presale.maxEthGoal }));
  const { root } = createAllowlistMerkleTree(buyers);
  return { allowlist: getAllowlistAddress(chainId), allowlistInitializationData: encodeAllowlistInitializationData(root) };
}

for await (const line of createInterface({ input: process.stdin })) {
  const { body: { token, rewards, vault, presale, ...body }, decimals } = JSON.parse(line);
  const { name, symbol, tokenAdmin, image } = token;
  const config = { name, symbol, tokenAdmin, chainId: body.chainId, context: body.context, ...metadata(token) };
  if (image) config.image = image;
  config.pool = pool(body.pool, decimals);
  if (body.fees) config.fees = fees(body.fees);
  if (vault) config.vault = { ...vault, ...lock(vault) };
  if (body.airdrop) config.airdrop = airdrop(body.airdrop);
  if (body.devBuy) config.devBuy = body.devBuy;
  if (rewards) {
    const recipients = rewards.map(({ admin, recipient, allocation, rewardsToken }) => (
      { admin, recipient, bps: bps(allocation), token: rewardsToken }));
    config.rewards = { recipients };
  }
  if (presale) config.presale = { bps: presale.presaleSupplyBps };
  const call = presale
    ? await getStartPresaleTransaction({
      tokenConfig: config,
      presaleConfig: { ...presale, ...lock(presale), allowlist: undefined, ...allowlist(presale, body.chainId) },
    })
    : await new Clanker({}).getDeployTransaction(config);
  console.log(JSON.stringify([call.address, String(call.value ?? 0n), encodeFunctionData(call)]));
}
