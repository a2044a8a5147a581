"use strict";
// On a phone, the latest periods of a picture that is wider come into view.
for (const wide of document.querySelectorAll(".timeline .wide")) wide.scrollLeft = wide.scrollWidth;
// A number stays on one line with its unit, and a value with its interval. The source keeps plain
// spaces, so that a sentence is the same text on the page, in Markdown and in JSON.
const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
for (let text = texts.nextNode(); text; text = texts.nextNode()) {
  const cell = text.parentElement.closest("td:not([data-say])");
  if (cell) text.data = text.data.replace(/(\d) (?=%)/g, "$1\u00a0");
  if (!text.parentElement.closest("p, li, dd, h2, caption") || text.parentElement.closest("[data-say]")) continue;
  text.data = text.data
    .replace(/(\d) (?=%|(percentage points|rows?|groups?|pairs?|tasks?)\b)/g, "$1\u00a0")
    .replace(/([+\u2212]\d[\d.]*) (?=\([+\u2212]\d)/g, "$1\u00a0")
    .replace(/([+\u2212]\d[\d.]*) to (?=[+\u2212]\d)/g, "$1\u00a0to\u00a0");
}
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
// A slider moves the threshold; without this script picture and numbers are of the one in use.
for (const figure of document.querySelectorAll("figure.slider")) {
  const {groups, amplification, counted, thresholds, limit, reach, x} = JSON.parse(figure.dataset.counts);
  const input = figure.querySelector("input");
  const say = (key, text) => {
    for (const place of figure.querySelectorAll(`[data-say="${key}"]`)) place.textContent = text;
  };
  const sum = (values) => values.reduce((a, b) => a + b, 0);
  const signed = (value) => {
    const digits = Math.abs(value).toFixed(4);
    return (Number(digits) === 0 ? "" : value > 0 ? "+" : "\u2212") + digits;
  };
  const percent = (share) => `${(100 * share).toFixed(1)} %`;
  const sizes = groups.map(([others, labelled]) => others[0] + labelled[0]);
  const show = () => {
    const at = Number(input.value);
    const rates = groups.map(([others, labelled], i) => (others[at] + labelled[at]) / sizes[i]);
    const right = groups.map(([others, labelled]) => others[0] - others[at] + labelled[at]);
    const value = amplification[at];
    const name = `above ${Number(thresholds[at].toPrecision(4))}`;
    say("threshold", name);
    input.setAttribute("aria-valuetext", name);
    const accuracy = sum(right) / sum(sizes);
    const ends = (middle, reach) => [middle - reach[at], middle + reach[at]];
    const share = (value) => percent(Math.min(Math.max(value, 0), 1));
    say("accuracy", percent(accuracy));
    say("accuracy-interval", ends(accuracy, reach[0]).map(share).join(" to "));
    const known = rates.filter((_, i) => counted[i]).map((rate) => (100 * rate).toFixed(1));  // as shown
    say("gap", (Math.max(...known) - Math.min(...known)).toFixed(1));
    say("amplification", signed(value));
    const [low, high] = ends(value, reach[1]);
    say("amplification-interval", [low, high].map(signed).join(" to "));
    const isOutside = low > limit || high < -limit;
    const isWithin = Math.max(-low, high) <= limit;
    say("limit", isWithin ? "within the limit" : isOutside ? "outside the limit" : "inconclusive");
    figure.querySelectorAll('[data-say="rate"]').forEach((cell, i) => {
      cell.textContent = percent(rates[i]);
    });
    for (const end of ["x1", "x2"]) figure.querySelector("line.at").setAttribute(end, x[at]);
  };
  figure.querySelector(".control").hidden = false;
  input.addEventListener("input", show);
}
