// The ground of the page, and that of each chart on the screen: plotly paints its own.
const painted = (one) => !/, 0\)$|transparent/.test(getComputedStyle(one).backgroundColor);
function ground(one) {
  while (!painted(one)) one = one.parentElement;
  return getComputedStyle(one).backgroundColor;
}
const onScreen = ({ top, bottom }) => bottom > 0 && top < innerHeight;
const charts = [...document.querySelectorAll(".js-plotly-plot .main-svg:first-child")]
  .filter((svg) => svg.checkVisibility() && onScreen(svg.getBoundingClientRect()));
return [ground(document.body), charts.map(ground)];
