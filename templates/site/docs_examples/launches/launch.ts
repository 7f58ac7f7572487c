import { randomBytes } from "node:crypto";

type Launch = { expectedAddress: string; statusUrl: string };
type Trial = { expectedAddress: string; gas: number };

const headers = { "x-api-key": process.env.LAUNCHBOARD_KEY ?? "", "content-type": "application/json" };
const token = {
  name: "Doge of launches",
  symbol: "DOGE",
  tokenAdmin: process.env.TOKEN_ADMIN,
  // Store it before the launch: a repeated call with it never launches a second token.
  requestKey: randomBytes(16).toString("hex"),
};

async function read<Answer>(address: string, body?: object): Promise<Answer> {
  const init = body ? { method: "POST", headers, body: JSON.stringify(body) } : { headers };
  const response = await fetch(address, init);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

const url = "https://launchboard.example/api/tokens/deploy";
const tried = await read<Trial>(url, { chainId: 8453, token, dryRun: true });
console.log(tried.expectedAddress, tried.gas);

const launched = await read<Launch>(url, { chainId: 8453, token });
console.log(launched.expectedAddress);
const { status } = await read<{ status: string }>(launched.statusUrl);
console.log(status);
