curl -s 'https://launchboard.example/api/feeds/daily/8453?day=2025-01-01'
