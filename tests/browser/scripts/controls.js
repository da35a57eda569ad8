// Begins to note which controls get the focus, and which of them look the same with it.
// Returns how many there are.
const look = (one) => [one, one.closest("label") ?? one].map((part) => getComputedStyle(part))
  .flatMap((style) => [style.outlineStyle === "none" ? "" : style.outline, style.boxShadow, style.textDecorationLine,
    style.backgroundColor, style.borderColor]).join("|");
// Of radio buttons of one name the tabulator stops at the chosen one alone; a chart is no control.
const controls = [...document.querySelectorAll("a[href], button, select, input, summary, [tabindex='0']")]
  .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.tabIndex >= 0
    && !one.closest(".js-plotly-plot") && !(one.type === "radio" && !one.checked));
const before = new Map(controls.map((one) => [one, look(one)]));
const named = (one) => `${one.tagName} ${one.id} ${one.className} ${one.textContent.trim().slice(0, 30)}`;
const visited = new Set();
const plain = [];
addEventListener("focusin", ({ target }) => {
  visited.add(target);
  if (before.get(target) === look(target)) plain.push(named(target));
});
window.noted = () => ({ missed: controls.filter((one) => !visited.has(one)).map(named), plain });
return controls.length;
