curl -s 'https://launchboard.example/api/tokens/8453/0x0000000000000000000000000000000000000001/integrity?seconds=60'
