// Selects a range of dates by dragging over the bars of the histogram. The two date fields work without this file.
"use strict";

const histogram = document.getElementById("dates");
const dateForm = document.querySelector(".filters form.span");

if (histogram && dateForm) {
  const dates = histogram.dataset.dates.split(" ");
  const barWidth = histogram.viewBox.baseVal.width / dates.length;
  const range = document.createElementNS("http://www.w3.org/2000/svg", "rect");
  let firstBar = -1, lastBar = -1, wasDragged = false;
  range.setAttribute("class", "dragged");
  range.setAttribute("height", histogram.viewBox.baseVal.height);
  range.setAttribute("width", 0);
  histogram.prepend(range);

  const barAt = (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(histogram.getScreenCTM().inverse());
    return Math.max(0, Math.min(dates.length - 1, Math.floor(point.x / barWidth)));
  };
  const reset = () => {
    firstBar = -1;
    range.setAttribute("width", 0);
  };

  histogram.addEventListener("dragstart", (event) => event.preventDefault()); // the bars are links
  histogram.addEventListener("pointerdown", (event) => {
    wasDragged = false;
    if (event.isPrimary && event.button === 0) firstBar = lastBar = barAt(event);
  });
  histogram.addEventListener("pointermove", (event) => {
    if (firstBar < 0 || (barAt(event) === lastBar && !wasDragged)) return;
    wasDragged = true;
    histogram.setPointerCapture(event.pointerId);
    lastBar = barAt(event);
    range.setAttribute("x", barWidth * Math.min(firstBar, lastBar));
    range.setAttribute("width", barWidth * (Math.abs(lastBar - firstBar) + 1));
  });
  histogram.addEventListener("pointerup", () => {
    if (firstBar >= 0 && wasDragged) {
      dateForm.elements.from.value = dates[Math.min(firstBar, lastBar)];
      dateForm.elements.to.value = dates[Math.max(firstBar, lastBar)];
      dateForm.requestSubmit();
    }
    reset();
  });
  histogram.addEventListener("pointercancel", reset);
  histogram.addEventListener("click", (event) => { if (wasDragged) event.preventDefault(); }, true);
}
