# WALLET is an address. Its wallet signs the calls in `data` after that; nothing is sent here.
curl -s 'https://launchboard.example/api/transactions/claim-fees' -H 'content-type: application/json' \
  -d '{"from": "'"$WALLET"'", "chainId": 8453,
    "tokenAddresses": ["0x0000000000000000000000000000000000000001"],
    "currencies": ["0x4200000000000000000000000000000000000006"]}'
