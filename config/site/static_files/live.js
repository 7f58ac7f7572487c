// A list that refreshes itself: on events of the stream, or every so many seconds. It holds still under the pointer, with
// the keyboard focus in it, with an open detail, and once more tokens are appended.
"use strict";
{
  const [area, list, notice] = ["live", "list", "notice"].map((id) => document.getElementById(id));
  // Shared caches keep a page for 2 seconds: a request after them has what an event is about.
  const DELAY_MS = 2100;
  let stream = "", seconds = "", source, retry, interval, delay, isOutdated, isRepeated, isForced, waiting = 0, known;
  const rows = () => [...list.querySelectorAll("tr[id]")];
  const isUsed = () => area.matches(":hover, :focus-within") || list.querySelector("details[open]") || isExtended();
  // A page that is fetched within the delay may be older than the event.
  const reset = () => { isOutdated = Boolean(delay); waiting = 0; notice.replaceChildren(); };
  const isExtended = () => list.querySelector("tbody + tbody");
  const refresh = () => {
    known = new Set(rows().map((row) => row.id));
    reset();
    // After "More", rows of the first page are put in front of those that are shown.
    if (isExtended()) htmx.ajax("GET", list.getAttribute("hx-get"), { target: "#list tbody", select: "#list tbody", swap: "beforebegin" });
    else htmx.trigger(list, "refresh");
  };
  const refreshUnlessHeld = () => { if (isOutdated && !delay && (isForced || !isUsed())) refresh(); };
  const outdate = (count) => {
    [isOutdated, isRepeated] = [true, Boolean(delay)];
    waiting += count;
    delay ??= setTimeout(() => {
      delay = undefined;
      refreshUnlessHeld();
      isForced = false;
      if (isRepeated) outdate(0);
    }, DELAY_MS);
    if (!waiting || !isUsed()) return;
    const button = notice.firstChild ?? notice.appendChild(document.createElement("button"));
    button.textContent = waiting === 1 ? list.dataset.one : list.dataset.many.replace("#", waiting);
  };
  const follow = () => {
    const { stream: nextStream = "", every: nextSeconds = "", after } = list.dataset;
    if (nextStream === stream && nextSeconds === seconds) return;
    [stream, seconds] = [nextStream, nextSeconds];
    source?.close();
    clearTimeout(retry);
    clearInterval(interval);
    reset();
    if (seconds) interval = setInterval(outdate, seconds * 1000, 0);
    if (stream) open(after);
  };
  const open = (after) => {
    let last = after;
    source = new EventSource(`${stream}&lastEventId=${after}`);
    for (const type of ["token.indexed", "token.updated", "token.reorged", "history-lost"])
      source.addEventListener(type, ({ lastEventId }) => {
        last = lastEventId || last;
        outdate(type === "token.indexed" ? 1 : 0);
      });
    // Browsers give up after any response but 200, such as a proxy's 502 while the stream restarts.
    source.addEventListener("error", ({ target }) => {
      if (target.readyState === EventSource.CLOSED) retry = setTimeout(open, 2000 + 4000 * Math.random(), last);
    });
  };
  area.addEventListener("pointerleave", refreshUnlessHeld);
  // The element with the focus changes after the event.
  area.addEventListener("focusout", () => setTimeout(refreshUnlessHeld));
  notice.addEventListener("click", () => {
    document.getElementById("content").focus({ preventScroll: true });
    isForced = Boolean(delay);
    refresh();
  });
  document.addEventListener("htmx:after:swap", () => {
    const seen = new Set();
    for (const row of known ? rows().reverse() : []) {
      if (!known.has(row.id)) row.classList.add("arrived");
      if (seen.has(row.id)) row.remove();
      seen.add(row.id);
    }
    known = undefined;
    follow();
  });
  // Fields without a value stay out of the URL.
  document.addEventListener("htmx:config:request", ({ detail: { ctx: { request: { body } } } }) => {
    for (const [name, value] of [...body]) if (!value) body.delete(name);
  });
  follow();
}
