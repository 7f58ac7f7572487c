import os
import secrets

import requests

url = "https://launchboard.example/api/tokens/deploy"
headers = {"x-api-key": os.environ["LAUNCHBOARD_KEY"]}
token = {
    "name": "Doge of launches",
    "symbol": "DOGE",
    "tokenAdmin": os.environ["TOKEN_ADMIN"],
    # Store it before the launch: a repeated call with it never launches a second token.
    "requestKey": secrets.token_hex(16),
}
body = {"chainId": 8453, "token": token}


def read(response):
    response.raise_for_status()
    return response.json()


tried = read(requests.post(url, json=body | {"dryRun": True}, headers=headers, timeout=60))
print(tried["expectedAddress"], tried["gas"])

launched = read(requests.post(url, json=body, headers=headers, timeout=60))
print(launched["expectedAddress"])
print(read(requests.get(launched["statusUrl"], headers=headers, timeout=30))["status"])
