import requests

url = "https://launchboard.example/api/feeds/daily/8453"
response = requests.get(url, params={"day": "2025-01-01"}, timeout=60)
response.raise_for_status()
sums = response.json()
print(sums["day"], sums["trades"], "trades", sums["volumeUsd"], sums["feesUsd"])
for quote in sums["quotes"]:
    print(quote["symbol"], quote["volume"], quote["fees"])
