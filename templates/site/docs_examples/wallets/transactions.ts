import { createWalletClient, http, publicActions, type WalletSendCallsParameters } from "viem";
import { privateKeyToAccount } from "viem/accounts";

type Change = { currency: string; amount: string };
type Prepared = { data: WalletSendCallsParameters[0]; texts: string[]; simulation: { changes: Change[] } };

const account = privateKeyToAccount(process.env.WALLET_KEY as `0x${string}`);
const wallet = createWalletClient({ account, transport: http(process.env.RPC_URL) }).extend(publicActions);
const response = await fetch("https://launchboard.example/api/transactions/claim-fees", {
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify({
    from: account.address,
    chainId: 8453,
    tokenAddresses: ["0x0000000000000000000000000000000000000001"],
    currencies: ["0x4200000000000000000000000000000000000006"],
  }),
});
if (!response.ok) throw new Error(await response.text());
const { data, texts, simulation } = (await response.json()) as Prepared;
for (const change of simulation.changes) console.log(change.currency, change.amount);

// A wallet of EIP-5792 takes all calls at once: request({ method: "wallet_sendCalls", params: [data] }).
for (const [index, call] of data.calls.entries()) {
  const { to, value } = call;
  const hash = await wallet.sendTransaction({ chain: null, to, data: call.data, value: BigInt(value ?? 0) });
  const { status } = await wallet.waitForTransactionReceipt({ hash });
  console.log(texts[index], hash, status);
}
