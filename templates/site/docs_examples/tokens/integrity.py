import requests

url = "https://launchboard.example/api/tokens/8453/0x0000000000000000000000000000000000000001/integrity"
answer = requests.get(url, params={"seconds": 60}, timeout=30)
answer.raise_for_status()
facts = answer.json()
print("first block", facts["firstBlock"]["percent"], "bundled", facts["bundles"]["percent"])
for holder in facts["holders"]["now"]:
    print(holder["account"], holder["percent"], holder["transactions"][0]["txHash"])
for unknown in facts["unknown"]:
    print(unknown["fact"], unknown["reason"])
