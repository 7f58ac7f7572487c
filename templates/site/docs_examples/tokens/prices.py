import requests

addresses = ["0x0000000000000000000000000000000000000001"]
parameters = {"chainId": 8453, "addresses": ",".join(addresses)}
response = requests.get("https://launchboard.example/api/tokens/marketcap", params=parameters, timeout=30)
response.raise_for_status()
for token in response.json()["data"]:
    print(token["address"], token["marketCap"], token["marketDataUpdatedAt"])
