// A list that refreshes itself after events of its stream, to which htmx's extension connects. It holds still under the
// pointer, with the keyboard focus in it, with an open detail, and once more tokens are appended.
"use strict";
{
  const [area, list, notice] = ["live", "list", "notice"].map((id) => document.getElementById(id));
  // Shared caches keep a page for 2 seconds: a request after them has what an event is about.
  const DELAY_MS = 2100;
  let delay, isOutdated, isRepeated, isForced, waiting = 0, known, refreshed;
  const rows = () => [...list.querySelectorAll("tr[id]")];
  const isUsed = () => area.matches(":hover, :focus-within") || list.querySelector("details[open]") || isExtended();
  // A page that is fetched within the delay may be older than the event.
  const reset = () => { isOutdated = Boolean(delay); waiting = 0; notice.replaceChildren(); };
  const isExtended = () => list.querySelector("tbody + tbody");
  const refresh = (isRequested) => {
    known = new Set(rows().map((row) => row.id));
    refreshed = { path: list.getAttribute("hx-get"), isRequested };
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
    // Only the list of new tokens can count what waits.
    const { one, many, changed } = list.dataset;
    if (!isUsed() || !(waiting || changed)) return;
    const button = notice.firstChild ?? notice.appendChild(document.createElement("button"));
    button.textContent = changed ?? (waiting === 1 ? one : many.replace("#", waiting));
  };
  area.addEventListener("htmx:sse:after:message", ({ detail: { message } }) => outdate(message.event === "token.indexed" ? 1 : 0));
  // The stream of another list replaces it.
  area.addEventListener("htmx:sse:close", reset);
  area.addEventListener("pointerleave", refreshUnlessHeld);
  // The element with the focus changes after the event.
  area.addEventListener("focusout", () => setTimeout(refreshUnlessHeld));
  notice.addEventListener("click", () => {
    document.getElementById("content").focus({ preventScroll: true });
    isForced = Boolean(delay);
    refresh(true);
  });
  // What a visitor does while a refresh is under way is not undone by its response.
  document.addEventListener("htmx:before:swap", (event) => {
    if (event.detail.ctx.sourceElement !== list) return;
    const isOther = refreshed.path !== list.getAttribute("hx-get");
    if (!isOther && (refreshed.isRequested || !isUsed())) return;
    event.preventDefault();
    known = undefined;
    isOutdated ||= !isOther;
  });
  // Such a response has no list: it is not swapped in.
  document.addEventListener("htmx:response:error", ({ detail: { ctx: { response, sourceElement } } }) => {
    if (response.status !== 429 && response.status < 500) return;
    [isOutdated, known] = [true, undefined];
    if (sourceElement !== list || refreshed.isRequested) notice.textContent = list.dataset.failed;
  });
  document.addEventListener("htmx:after:swap", ({ detail: { ctx: { response } } }) => {
    if (response?.status < 400 && !notice.firstElementChild) notice.replaceChildren();
    const seen = new Set();
    for (const row of known ? rows().reverse() : []) {
      if (!known.has(row.id)) row.classList.add("arrived");
      if (seen.has(row.id)) row.remove();
      seen.add(row.id);
    }
    known = undefined;
  });
  // Chips are links without scripts. Here they set and remove inputs of the form, which is sent as a whole: a request
  // replaces the one before without losing what that has chosen.
  const form = document.getElementById("search");
  document.addEventListener("click", (event) => {
    const chip = event.target.closest("#filter-chips [data-filter]");
    if (!chip || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const { filter, value } = chip.dataset;
    const isSet = chip.hasAttribute("aria-current");
    const ofFilter = (element) => !filter || (element.dataset.filter ?? element.name) === filter;
    const chips = document.getElementById("filter-chips");
    for (const each of chips.querySelectorAll("input")) if (ofFilter(each)) each.remove();
    for (const each of chips.querySelectorAll(".chip")) if (ofFilter(each)) each.removeAttribute("aria-current");
    if (filter && !isSet) {
      chip.setAttribute("aria-current", "true");
      const input = Object.assign(document.createElement("input"), { type: "hidden", name: filter, value });
      input.setAttribute("form", "search");
      chips.append(input);
    }
    htmx.trigger(form, "filter");
  });
  // A filter, chain or sort is an entry of the history, which a later request of typed text does not replace.
  let isEntry = false;
  document.addEventListener("htmx:config:request", ({ detail: { ctx } }) => {
    // Fields without a value stay out of the URL.
    const { body } = ctx.request;
    for (const [name, value] of [...body]) if (!value) body.delete(name);
    if (ctx.sourceElement !== form) return;
    isEntry ||= ["change", "filter"].includes(ctx.sourceEvent.type);
    if (isEntry) ctx.push = "true";
  });
  document.addEventListener("htmx:after:history:push", () => { isEntry = false; });
}
