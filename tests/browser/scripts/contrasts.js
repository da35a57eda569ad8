// Of each section, a few elements of each kind that hold text themselves: their colour against what
// is painted behind them, every layer laid over the one below. Returns how many were looked at, and
// those whose contrast (WCAG 2) is less than the least.
const [samples, least] = arguments;
const pixel = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
const brush = pixel.getContext("2d", { willReadFrequently: true });
const known = new Map();

// Any notation of CSS as red, green, blue, opacity.
function colour(text) {
  if (!known.has(text)) {
    brush.clearRect(0, 0, 1, 1);
    brush.fillStyle = text;
    brush.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = brush.getImageData(0, 0, 1, 1).data;
    known.set(text, [r, g, b, a / 255]);
  }
  return known.get(text);
}

const above = (element) => (element ? [element, ...above(element.parentElement)] : []);
const over = (upper, lower) => [0, 1, 2].map((i) => upper[i] * upper[3] + lower[i] * (1 - upper[3]));

function ground(element) {
  const layers = above(element).map((one) => colour(getComputedStyle(one).backgroundColor));
  const solid = layers.findIndex((layer) => layer[3] === 1);
  // No page of ours leaves its own ground to the browser.
  if (solid < 0) throw new Error("nothing is painted behind the page");
  return layers.slice(0, solid + 1).reverse().reduce((lower, upper) => over(upper, lower));
}

function light(rgb) {
  const [r, g, b] = rgb.map((v) => v / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(element, behind) {
  const style = getComputedStyle(element);
  const [r, g, b, a] = colour(element instanceof SVGElement ? style.fill : style.color);
  const opacity = above(element).reduce((product, one) => product * getComputedStyle(one).opacity, a);
  const [dark, bright] = [over([r, g, b, opacity], behind), behind].map(light).sort((x, y) => x - y);
  return (bright + 0.05) / (dark + 0.05);
}

const holdsText = (one) => [...one.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim());
const seen = new Map();
const poor = [];
let looked = 0;
// Words within a drawing stand on its colours, which are chosen there.
const drawings = ".modebar, .unseen, .basins, .gallery, .deciding, .traces, .textpoint, script, style";
for (const part of document.querySelectorAll("header, .bar, main > section")) {
  for (const one of part.querySelectorAll("*")) {
    if (!holdsText(one) || one.closest(drawings) || !one.checkVisibility({ visibilityProperty: true })) continue;
    const kind = [part.id, one, one.parentElement].map((x) => x.tagName ? `${x.tagName}.${x.getAttribute("class")}` : x).join(" ");
    seen.set(kind, (seen.get(kind) ?? 0) + 1);
    if (seen.get(kind) > samples) continue;
    looked += 1;
    const behind = ground(one);
    const found = contrast(one, behind);
    if (found < least)
      poor.push(`${found.toFixed(2)} ${kind}: ${one.textContent.trim().slice(0, 40)} on ${behind.map(Math.round)}`);
  }
}
return [looked, poor];
