import requests

parameters = {"q": "cat", "sortBy": "market-cap", "limit": 5}
response = requests.get("https://launchboard.example/api/tokens", params=parameters, timeout=30)
response.raise_for_status()
page = response.json()
print(page["total"], "tokens")
for token in page["data"]:
    print(token["symbol"], token["name"])
