import os

import requests

body = {
    "chainId": 8453,
    "txHash": "0x0000000000000000000000000000000000000000000000000000000000000002",
}
headers = {"x-api-key": os.environ["LAUNCHBOARD_KEY"]}
response = requests.post("https://launchboard.example/api/tokens/index", json=body, headers=headers, timeout=60)
response.raise_for_status()
print(response.json()["url"])
