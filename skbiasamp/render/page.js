"use strict";
// Headings sort their table; without this script the strongest come first.
for (const table of document.querySelectorAll("table.sortable")) {
  const body = table.tBodies[0];
  if (body.rows.length < 2) continue;
  const headings = table.tHead.rows[0].cells;
  [...headings].forEach((heading, column) => {
    if ("fixed" in heading.dataset) return;
    const button = document.createElement("button");
    button.type = "button";
    button.append(...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const up = heading.getAttribute("aria-sort") === "descending";
      for (const other of headings) other.removeAttribute("aria-sort");
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const key = (row) => {
        const cell = row.cells[column];
        return "value" in cell.dataset ? cell.dataset.value : cell.textContent.trim();
      };
      const compare = (a, b) => {
        const [x, y] = [key(a), key(b)];
        if (x === "" || y === "") return (x === "") - (y === "");  // undefined ones last
        const order = column ? x - y : x.localeCompare(y);
        return up ? order : -order;
      };
      body.append(...[...body.rows].sort(compare));
    });
  });
}
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll("details.record")) details.open = true;
});
