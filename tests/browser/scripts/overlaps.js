// Brothers within the overview that are laid out as boxes and lie on each other; text flows around
// what floats.
const [rounding] = arguments;
const isBox = (one) => one.checkVisibility() && !/inline|contents/.test(getComputedStyle(one).display)
  && getComputedStyle(one).float === "none" && !/absolute|fixed|sticky/.test(getComputedStyle(one).position);
const lapped = [];
for (const parent of document.querySelectorAll("#overview, #overview *:not(svg *, table *)")) {
  const boxes = [...parent.children].filter(isBox);
  const areas = boxes.map((box) => box.getBoundingClientRect());
  areas.forEach((a, i) => areas.slice(0, i).forEach((b, j) => {
    const across = Math.min(a.right, b.right) - Math.max(a.left, b.left);
    const down = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
    if (across > rounding && down > rounding)
      lapped.push([boxes[i], boxes[j]].map((box) => `${box.tagName}.${box.className}`).join(" on "));
  }));
}
return lapped;
