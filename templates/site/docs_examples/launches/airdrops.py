import os

import requests

url = "https://launchboard.example/api/airdrops"
headers = {"x-api-key": os.environ["LAUNCHBOARD_KEY"]}
account = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8"
entries = [
    {"account": account, "amount": "1000000000000000000000"},
    {"account": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "amount": "2000000000000000000000"},
]


def read(response):
    response.raise_for_status()
    return response.json()


print(read(requests.post(url, json={"entries": entries}, headers=headers, timeout=30))["merkleRoot"])
for saved in read(requests.get(f"{url}/saved", headers=headers, timeout=30))["data"]:
    print(saved["id"], saved["merkleRoot"], saved["amount"])

# Without a key: the airdrops of a token, and what an account may claim, with its proofs.
query = {"tokenAddress": "0x0000000000000000000000000000000000000001"}
for airdrop in read(requests.get(url, params=query, timeout=30))["airdrops"]:
    print(airdrop["merkleRoot"], airdrop["entries"], "entries")
query["claimerAddress"] = account
for claim in read(requests.get(f"{url}/claim", params=query, timeout=30))["proofs"]:
    print(claim["entry"]["amount"], claim["proof"])
