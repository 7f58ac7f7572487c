const body = {
  chainId: 8453,
  txHash: "0x0000000000000000000000000000000000000000000000000000000000000002",
};
const response = await fetch("https://launchboard.example/api/tokens/index", {
  method: "POST",
  headers: { "x-api-key": process.env.LAUNCHBOARD_KEY ?? "", "content-type": "application/json" },
  body: JSON.stringify(body),
});
if (!response.ok) throw new Error(await response.text());
const indexed = (await response.json()) as { url: string | null };
console.log(indexed.url);
