// Calls of Farcaster's mini app SDK to the client that shows this page, in the wire format of Comlink: the SDK itself has
// 670 KB. `ready` ends the splash screen. Links to other pages are opened by the client, which may hold frames closed.
"use strict";
{
  const { ReactNativeWebView: app } = window, isFramed = window.parent !== window;
  // The client answers a call with its id. A page that is no client does not, and links stay links.
  const READY = "ready-" + Math.random().toString(16).slice(2);
  let isHosted = Boolean(app);
  const call = (name, value, id) => {
    const message = { id, type: "APPLY", path: [name], argumentList: [{ type: "RAW", value }] };
    if (app) app.postMessage(JSON.stringify(message));
    else if (isFramed) window.parent.postMessage(message, "*");
  };
  addEventListener("message", ({ source, data }) => { isHosted ||= source === window.parent && data?.id === READY; });
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[target=_blank]");
    if (!link || !isHosted) return;
    event.preventDefault();
    call("openUrl", link.href, "open-" + Math.random().toString(16).slice(2));
  });
  call("ready", {}, READY);
}
