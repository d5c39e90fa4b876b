// On narrow windows each row of a wide table is a block (style.css). Each cell then needs the heading of its column.
"use strict";

for (const table of document.querySelectorAll(".wide > table.figures")) {
  const headings = [...table.querySelectorAll("thead th")].map((heading) => heading.textContent.trim());
  for (const cell of table.querySelectorAll("tbody > tr > td, tbody > tr > th")) {
    cell.dataset.heading = headings[cell.cellIndex] ?? "";
  }
  if (headings.length) table.classList.add("stackable");
}
