curl -s 'https://launchboard.example/api/feeds/udf/symbols?symbol=8453:0x0000000000000000000000000000000000000001'
curl -s 'https://launchboard.example/api/feeds/udf/history?symbol=8453:0x0000000000000000000000000000000000000001.QUOTE&resolution=60&to=4102444800&countback=24'
