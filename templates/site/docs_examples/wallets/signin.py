import os
from datetime import UTC, datetime

import requests
from eth_account import Account
from eth_account.messages import encode_defunct

url = "https://launchboard.example/api/"
account = Account.from_key(os.environ["WALLET_KEY"])


def read(response):
    response.raise_for_status()
    return response.json()


nonce = read(requests.post(url + "sign-in/nonce", timeout=30))["nonce"]
message = f"""{url.split("/")[2]} wants you to sign in with your Ethereum account:
{account.address}


URI: {url}
Version: 1
Chain ID: 8453
Nonce: {nonce}
Issued At: {datetime.now(UTC).isoformat(timespec="seconds")}"""
signature = account.sign_message(encode_defunct(text=message)).signature.to_0x_hex()
signed_in = read(requests.post(url + "sign-in", json={"message": message, "signature": signature}, timeout=30))

headers = {"Authorization": f"Bearer {signed_in['token']}"}
print(read(requests.get(url + "pretoken/pending", headers=headers, timeout=30)))
