// Swagger UI has its dark colors by a class of the page, which follows the reader's scheme.
"use strict";
{
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const follow = () => document.documentElement.classList.toggle("dark-mode", dark.matches);
  dark.addEventListener("change", follow);
  follow();
}
