// Refresh of a token's page while a visitor sees it: its newest trades, unless they are in use, and its market after a new
// trade and every half minute. A chart that is in use holds still, by morphSkip of the page's head.
"use strict";
{
  // Shared caches keep a page for 2 seconds: a request after them has what the trade has changed.
  const TRADES_MS = 5000, MARKET_MS = 30_000, DELAY_MS = 2100;
  const newestTrades = () => document.querySelector("#trades[data-newest]");
  const refresh = (part) => { if (part && !document.hidden) htmx.trigger(part, "refresh"); };
  const refreshMarket = () => refresh(document.getElementById("figures"));
  let newest = newestTrades()?.dataset.newest;
  setInterval(() => refresh(document.querySelector("#trades[data-newest]:not(:hover, :focus-within)")), TRADES_MS);
  setInterval(refreshMarket, MARKET_MS);
  document.addEventListener("htmx:after:swap", () => {
    const next = newestTrades()?.dataset.newest ?? newest;
    if (next !== newest) setTimeout(refreshMarket, DELAY_MS);
    newest = next;
  });
}
