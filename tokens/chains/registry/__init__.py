"""Chain registry: chains, generations, contracts and presets."""
