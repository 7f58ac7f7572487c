type Presale = { presaleId: number; symbol: string; state: string; ethRaised: string };
type Proof = { isAllowed: boolean; allowedAmountWei: string; proof: string[] };

const url = "https://launchboard.example/api/presales";
const response = await fetch(`${url}?chainId=8453&limit=5`);
if (!response.ok) throw new Error(await response.text());
const { presales } = (await response.json()) as { presales: Presale[] };
const buyer = "buyerAddress=0x0000000000000000000000000000000000000003";
for (const presale of presales) {
  console.log(presale.presaleId, presale.symbol, presale.state, presale.ethRaised);
  const found = await fetch(`${url}/allowlists/proof?chainId=8453&presaleId=${presale.presaleId}&${buyer}`);
  // Allow-lists of presales that were started here, and posted ones, are served.
  if (found.status === 404) continue;
  if (!found.ok) throw new Error(await found.text());
  const { isAllowed, allowedAmountWei, proof } = (await found.json()) as Proof;
  console.log(isAllowed, allowedAmountWei, proof);
}
