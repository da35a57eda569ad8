// Points at the first point of a curve, and returns what is said of it, as text and as markup. Of
// several calls at once plotly obeys one, so what is said may still be of another curve.
const [selector, curveNumber] = arguments;
const chart = document.querySelector(selector);
const { x, y } = chart.data[curveNumber];
const pointNumber = y.findIndex((value, i) => value !== null && x[i] !== null);
Plotly.Fx.hover(chart, [{ curveNumber, pointNumber }]);
const label = chart.querySelector(".hoverlayer");
return [label.textContent, label.innerHTML];
