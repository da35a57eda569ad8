// What a choice changes besides charts, as one text: rows that are shown, and what is chosen.
const rows = [...document.querySelectorAll("tbody tr")].filter((row) => !row.hidden)
  .map((row) => row.textContent.replace(/\s+/g, " "));
const chosen = [...document.querySelectorAll("select, input, [aria-pressed]")]
  .map((one) => (one.matches("[type=radio], [type=checkbox]") ? one.checked : one.ariaPressed ?? one.value));
return JSON.stringify([rows, chosen]);
