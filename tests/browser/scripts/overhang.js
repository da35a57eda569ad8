// What hangs over the right edge of the page, and lies in nothing that scrolls.
const width = document.documentElement.clientWidth;
const scrolls = (one) => one && (getComputedStyle(one).overflowX !== "visible" || scrolls(one.parentElement));
return [...document.querySelectorAll("body *")]
  .filter((one) => one.checkVisibility() && one.getBoundingClientRect().right > width + 1 && !scrolls(one.parentElement))
  .map((one) => `${one.tagName} ${one.id} ${one.className}`).slice(0, 8);
