// Refresh of a token's newest trades, while a visitor sees the page and does not use the list.
"use strict";

const REFRESH_MS = 5000;

setInterval(() => {
  const list = document.querySelector("#trades[data-live]");
  const inUse = list && (list.matches(":hover") || list.contains(document.activeElement));
  if (list && !inUse && !document.hidden) list.dispatchEvent(new CustomEvent("refresh-trades"));
}, REFRESH_MS);
