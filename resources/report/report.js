"use strict";
// Values under the pointer; without this script the charts read the same.
for (const svg of document.querySelectorAll("svg.chart")) {
  const lines = [...svg.querySelectorAll(".line")].map((line) => ({
    name: line.dataset.name,
    points: line.getAttribute("points").split(" ").map((point) => point.split(",").map(Number)),
    values: line.dataset.values.split("|"),
  }));
  if (!lines.length) continue;
  const cross = document.createElementNS("http://www.w3.org/2000/svg", "line");
  const tip = document.createElement("div");
  cross.setAttribute("class", "cross");
  cross.setAttribute("y1", 12);
  cross.setAttribute("y2", 212);
  tip.className = "tip";
  const hide = () => { cross.remove(); tip.remove(); };
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("pointermove", (event) => {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse()).x;
    const near = lines.map((line) => {
      let best = 0;
      line.points.forEach((point, n) => { if (Math.abs(point[0] - at) < Math.abs(line.points[best][0] - at)) best = n; });
      return { x: line.points[best][0], text: `${line.name} ${line.values[best]}` };
    });
    cross.setAttribute("x1", near[0].x);
    cross.setAttribute("x2", near[0].x);
    svg.append(cross);
    tip.textContent = near.map((one) => one.text).join("\n");
    tip.style.whiteSpace = "pre";
    document.body.append(tip);
    tip.style.left = `${Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8)}px`;
    tip.style.top = `${event.clientY + 16}px`;
  });
}
