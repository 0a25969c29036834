"use strict";

// Says the numbers of the cell under the pointer, or of the one that arrow keys have reached, and frames it in
// all maps of a row. Without it, the numbers of the first cells stand in a table, and the largest difference is
// framed.

const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };

function within(number, size) {
  return Math.min(Math.max(number, 0), size - 1);
}

for (const panels of document.querySelectorAll(".panels[data-cell]")) {
  const maps = [...panels.querySelectorAll("svg[data-cells]")];
  const numbers = maps.map((map) => map.dataset.cells.split(" "));
  const columns = Number(maps[0].dataset.columns), side = Number(maps[0].dataset.side);
  const rows = numbers[0].length / columns;
  const frames = maps.map((map) => map.appendChild(document.createElementNS(map.namespaceURI, "rect")));
  let at = [0, 0];

  function show(row, column) {
    at = [within(row, rows), within(column, columns)];
    const place = panels.dataset.cell.replace("{row}", at[0]).replace("{column}", at[1]);
    const found = maps.map((map, one) => `${map.dataset.name} ${numbers[one][at[0] * columns + at[1]]}`);
    panels.querySelector(".read").textContent = `${place}: ${found.join(", ")}`;
    for (const frame of frames) {
      frame.setAttribute("class", "lit");
      Object.entries({ x: at[1] * side, y: at[0] * side, width: side, height: side })
        .forEach(([name, value]) => frame.setAttribute(name, value));
    }
  }

  maps.forEach((map) => map.addEventListener("pointermove", (event) => {
    const point = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
    show(Math.floor(point.y / side), Math.floor(point.x / side));
  }));
  panels.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    if (step) {
      event.preventDefault();
      show(at[0] + step[0], at[1] + step[1]);
    }
  });
}
