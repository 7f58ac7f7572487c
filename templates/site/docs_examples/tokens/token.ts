type Trust = { verified: boolean; reasons: string[] };
type Token = { symbol: string; deployed_at: string; warnings: string[]; trust: Trust };

const url = "https://launchboard.example/api/tokens/8453/0x0000000000000000000000000000000000000001";
const response = await fetch(url);
if (!response.ok) throw new Error(await response.text());
const { data: token } = (await response.json()) as { data: Token };
console.log(token.symbol, token.deployed_at, token.warnings);
console.log(token.trust.verified, token.trust.reasons);
