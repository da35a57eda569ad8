// The charts of a selector that can be seen; one that has no place for a curve has NaN in its paths.
const [selector] = arguments;
const look = (path) => [path.getAttribute("d"), path.style.stroke, path.style.strokeDasharray, path.style.fill].join(" ");
// As a number: of a large chart, a text would be as large as the chart.
const summed = (text) => [...text].reduce((sum, letter) => (Math.imul(sum, 31) + letter.charCodeAt(0)) | 0, 0);
return [...document.querySelectorAll(selector)].filter((box) => box.checkVisibility()).map((box) => {
  const paths = [...box.querySelectorAll(".main-svg path[d]")];
  return {
    name: box.id || box.dataset.measure,
    paths: paths.length,
    shape: summed(paths.map(look).join("; ")),
    finite: paths.every((path) => !/NaN|Infinity|undefined/.test(path.getAttribute("d"))),
    lines: box.querySelectorAll(".scatterlayer .trace path[d]").length,
  };
});
