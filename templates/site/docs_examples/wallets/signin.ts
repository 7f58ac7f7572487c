import { privateKeyToAccount } from "viem/accounts";
import { createSiweMessage } from "viem/siwe";

const url = "https://launchboard.example/api/";
const account = privateKeyToAccount(process.env.WALLET_KEY as `0x${string}`);

async function read<Answer>(path: string, init: RequestInit): Promise<Answer> {
  const response = await fetch(url + path, init);
  if (!response.ok) throw new Error(await response.text());
  return (await response.json()) as Answer;
}

const { nonce } = await read<{ nonce: string }>("sign-in/nonce", { method: "POST" });
const { address } = account;
const message = createSiweMessage({ address, chainId: 8453, domain: new URL(url).host, nonce, uri: url, version: "1" });
const signature = await account.signMessage({ message });
const { token } = await read<{ token: string }>("sign-in", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({ message, signature }),
});

const headers = { Authorization: `Bearer ${token}` };
console.log(await read<object>("pretoken/pending", { headers }));
