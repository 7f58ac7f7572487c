curl -s 'https://launchboard.example/api/get-user-by-fid?fid=977'
curl -s 'https://launchboard.example/api/get-user-by-address?address=0x0000000000000000000000000000000000000003'
curl -s -G 'https://launchboard.example/api/get-user-by-name' --data-urlencode 'name=alice'
