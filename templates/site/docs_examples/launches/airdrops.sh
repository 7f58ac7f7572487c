# Save the entries. The response has their Merkle root, and the list what your key has saved.
curl -s 'https://launchboard.example/api/airdrops' \
  -H "x-api-key: $LAUNCHBOARD_KEY" -H 'content-type: application/json' \
  -d '{"entries": [{"account": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8", "amount": "1000000000000000000000"},
    {"account": "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC", "amount": "2000000000000000000000"}]}'
curl -s -H "x-api-key: $LAUNCHBOARD_KEY" 'https://launchboard.example/api/airdrops/saved'

# Without a key: the airdrops of a token, and what an account may claim, with its proofs.
curl -s 'https://launchboard.example/api/airdrops?tokenAddress=0x0000000000000000000000000000000000000001'
curl -s 'https://launchboard.example/api/airdrops/claim?tokenAddress=0x0000000000000000000000000000000000000001&claimerAddress=0x70997970C51812dc3A010C7d01b50e0d17dc79C8'
