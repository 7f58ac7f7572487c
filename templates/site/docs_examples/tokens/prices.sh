curl -s 'https://launchboard.example/api/tokens/marketcap?chainId=8453&addresses=0x0000000000000000000000000000000000000001'
