// Behavior that all pages share. Pages work without it.
"use strict";

// Buttons with data-copy copy their value. Pages of http:// have no clipboard.
if (navigator.clipboard) document.documentElement.classList.add("copies");
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.copy);
  const before = button.textContent;
  button.textContent = button.dataset.copied;
  setTimeout(() => { button.textContent = before; }, 1500);
});
