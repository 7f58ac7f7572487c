import requests

parameters = {"limit": 5, "includeMarket": 1}
response = requests.get("https://launchboard.example/api/tokens", params=parameters, timeout=30)
response.raise_for_status()
page = response.json()
for token in page["data"]:
    print(token["chain_id"], token["contract_address"], token["symbol"], token["priceUsd"])
# The next page: the same request with cursor=page["cursor"].
