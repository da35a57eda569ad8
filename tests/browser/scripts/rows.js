// The rows of a table that can be seen, each cell with what it sorts by, what it holds and its text.
const [table] = arguments;
return [...document.querySelectorAll(`#${table} tbody tr`)].filter((row) => row.checkVisibility())
  .map((row) => [...row.cells].map((cell) => ({
    sort: cell.dataset.sort ?? null, full: cell.dataset.v ?? null, text: cell.innerText.trim(),
  })));
