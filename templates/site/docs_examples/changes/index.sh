curl -s 'https://launchboard.example/api/tokens/index' \
  -H "x-api-key: $LAUNCHBOARD_KEY" -H 'content-type: application/json' \
  -d '{"chainId": 8453, "txHash": "0x0000000000000000000000000000000000000000000000000000000000000002"}'
