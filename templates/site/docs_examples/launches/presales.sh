curl -s 'https://launchboard.example/api/presales?chainId=8453&limit=5'
curl -s 'https://launchboard.example/api/presales/allowlists/proof?chainId=8453&presaleId=1&buyerAddress=0x0000000000000000000000000000000000000003'
