import os

import requests
from web3 import Web3

web3 = Web3(Web3.HTTPProvider(os.environ["RPC_URL"]))
account = web3.eth.account.from_key(os.environ["WALLET_KEY"])
url = "https://launchboard.example/api/transactions/claim-fees"
body = {
    "from": account.address,
    "chainId": 8453,
    "tokenAddresses": ["0x0000000000000000000000000000000000000001"],
    "currencies": ["0x4200000000000000000000000000000000000006"],
}
response = requests.post(url, json=body, timeout=60)
response.raise_for_status()
prepared = response.json()
for change in prepared["simulation"]["changes"]:
    print(change["currency"], change["amount"])

for index, call in enumerate(prepared["data"]["calls"]):
    tip = web3.eth.max_priority_fee
    fields = {
        "chainId": 8453,
        "nonce": web3.eth.get_transaction_count(account.address),
        "gas": prepared["simulation"]["calls"][index]["gas"],
        "maxPriorityFeePerGas": tip,
        "maxFeePerGas": 2 * web3.eth.gas_price + tip,
    }
    signed = account.sign_transaction(call | fields)
    receipt = web3.eth.wait_for_transaction_receipt(web3.eth.send_raw_transaction(signed.raw_transaction))
    print(prepared["texts"][index], receipt["transactionHash"].to_0x_hex(), receipt["status"])
