type Purchases = { count: number; percent: number | null };
type Holder = { account: string; percent: number | null; transactions: { txHash: string }[] };
type Facts = {
  firstBlock: Purchases;
  bundles: Purchases;
  holders: { now: Holder[] };
  unknown: { fact: string; reason: string }[];
};

const url = "https://launchboard.example/api/tokens/8453/0x0000000000000000000000000000000000000001/integrity";
const answer = await fetch(`${url}?seconds=60`);
if (!answer.ok) throw new Error(await answer.text());
const facts = (await answer.json()) as Facts;
console.log("first block", facts.firstBlock.percent, "bundled", facts.bundles.percent);
for (const holder of facts.holders.now) {
  console.log(holder.account, holder.percent, holder.transactions[0]?.txHash);
}
for (const unknown of facts.unknown) {
  console.log(unknown.fact, unknown.reason);
}
