import requests

url = "https://launchboard.example/api/creators/0x0000000000000000000000000000000000000003"
response = requests.get(url, params={"limit": 5, "days": 30}, timeout=30)
response.raise_for_status()
ledger = response.json()["data"]
print(ledger["totals"]["launches"], "launches,", ledger["totals"]["stillTraded"], "still traded")
for launch in ledger["launches"]:
    print(launch["token"]["symbol"], launch["outcome"]["marketCap"], launch["outcome"]["peakMarketCap"])
    for fees in launch["fees"]:
        print(fees["recipient"], fees["symbol"], fees["earned"]["amount"] or fees["earned"]["reason"])

found = requests.get("https://launchboard.example/api/search-creator", params={"q": "alice"}, timeout=30)
found.raise_for_status()
for creator in found.json()["data"]:
    print(creator["key"], creator["launches"])
