type Airdrop = { merkleRoot: string; amount: string; entries: number };
type Claim = { proof: string[]; entry: { account: string; amount: string } };

const url = "https://launchboard.example/api/airdrops";
const key = { "x-api-key": process.env.LAUNCHBOARD_KEY ?? "" };
const account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const entries = [
  { account, amount: "1000000000000000000000" },
  { account: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", amount: "2000000000000000000000" },
];

async function read<Answer>(address: string, init?: RequestInit): Promise<Answer> {
  const response = await fetch(address, init);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

const headers = { ...key, "content-type": "application/json" };
const posted = await read<Airdrop>(url, { method: "POST", headers, body: JSON.stringify({ entries }) });
console.log(posted.merkleRoot);
const { data } = await read<{ data: (Airdrop & { id: number })[] }>(`${url}/saved`, { headers: key });
for (const saved of data) console.log(saved.id, saved.merkleRoot, saved.amount);

// Without a key: the airdrops of a token, and what an account may claim, with its proofs.
const token = "tokenAddress=0x0000000000000000000000000000000000000001";
const { airdrops } = await read<{ airdrops: Airdrop[] }>(`${url}?${token}`);
for (const airdrop of airdrops) console.log(airdrop.merkleRoot, airdrop.entries, "entries");
const { proofs } = await read<{ proofs: Claim[] }>(`${url}/claim?${token}&claimerAddress=${account}`);
for (const claim of proofs) console.log(claim.entry.amount, claim.proof);
