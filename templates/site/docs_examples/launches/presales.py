import requests

url = "https://launchboard.example/api/presales"
response = requests.get(url, params={"chainId": 8453, "limit": 5}, timeout=30)
response.raise_for_status()
for presale in response.json()["presales"]:
    print(presale["presaleId"], presale["symbol"], presale["state"], presale["ethRaised"])
    query = {"chainId": 8453, "presaleId": presale["presaleId"]}
    query["buyerAddress"] = "0x0000000000000000000000000000000000000003"
    found = requests.get(f"{url}/allowlists/proof", params=query, timeout=30)
    # Allow-lists of presales that were started here, and posted ones, are served.
    if found.status_code == 404:
        continue
    found.raise_for_status()
    print(found.json()["isAllowed"], found.json()["allowedAmountWei"], found.json()["proof"])
