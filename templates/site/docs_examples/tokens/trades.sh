curl -s 'https://launchboard.example/api/tokens/8453/0x0000000000000000000000000000000000000001/trades?limit=20'
curl -s 'https://launchboard.example/api/tokens/8453/0x0000000000000000000000000000000000000001/candles?interval=1h&currency=usd'
