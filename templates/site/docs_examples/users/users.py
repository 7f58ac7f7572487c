import requests

wanted = {"fid": 977, "address": "0x0000000000000000000000000000000000000003", "name": "alice"}
for field, value in wanted.items():
    url = f"https://launchboard.example/api/get-user-by-{field}"
    response = requests.get(url, params={field: value}, timeout=30)
    if response.status_code == 404:
        print(field, "is of no stored user")
        continue
    response.raise_for_status()
    user = response.json()
    print(user["fid"], user["username"], user["verifiedAddresses"])
