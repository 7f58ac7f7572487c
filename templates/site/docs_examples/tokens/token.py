import requests

url = "https://launchboard.example/api/tokens/8453/0x0000000000000000000000000000000000000001"
response = requests.get(url, timeout=30)
response.raise_for_status()
token = response.json()["data"]
print(token["symbol"], token["deployed_at"], token["warnings"])
print(token["trust"]["verified"], token["trust"]["reasons"])
