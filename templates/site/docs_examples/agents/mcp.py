import asyncio

from mcp import Client


async def main() -> None:
    async with Client("https://launchboard.example/mcp") as client:
        found = await client.call_tool("search_tokens", {"q": "cat"})
    for token in found.structured_content["data"]:
        print(token["chain_id"], token["contract_address"], token["symbol"])


asyncio.run(main())
