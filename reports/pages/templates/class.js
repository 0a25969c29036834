"use strict";
{
  const fields = document.querySelector(".filters");
  const inputs = [...fields.querySelectorAll("[name]")];
  const mistakes = fields.querySelector("[name=mistake]"); // its first option is any; rows count from the second
  const said = document.querySelector(".shown");
  const table = document.querySelector(".class");
  const heads = [...table.tHead.rows[0].cells];
  const rows = [...table.tBodies[0].rows];
  const [NAME, SCORE, FIRST] = [0, 1, 2]; // columns; those after them are stages
  const WORST_FIRST = ["failed", "not-reached", "not-written", "passed", "implied", "not-applicable"];

  const text = (row, column) => row.cells[column].textContent;
  const score = row => Number(text(row, SCORE));
  const state = (row, column) => {
    let end = 0; // a cell holds a run of stages
    for (const cell of row.cells) if ((end += cell.colSpan) > column) return cell.className;
  };

  const fits = {
    text: (row, asked) => `${text(row, NAME)} ${text(row, FIRST)}`.toLowerCase().includes(asked.toLowerCase()),
    standing: (row, asked) => row.dataset.standing === asked,
    stage: (row, asked) => state(row, heads.findIndex(head => head.textContent === asked)) === "failed",
    mistake: row => (row.dataset.mistakes ?? "").split(" ").includes(String(mistakes.selectedIndex - 1)),
    least: (row, asked) => score(row) >= Number(asked),
    most: (row, asked) => score(row) <= Number(asked),
  };

  const filter = () => {
    const asked = inputs.filter(input => input.value !== "");
    for (const row of rows) row.hidden = !asked.every(input => fits[input.name](row, input.value));
    const shown = rows.filter(row => !row.hidden).length;
    said.textContent = said.dataset.says.replace("#", shown.toLocaleString(document.documentElement.lang));
  };

  let sorted = { column: NAME, down: false };
  const keys = {
    [NAME]: (row, place) => place,
    [SCORE]: score,
    [FIRST]: row => text(row, FIRST) || "\uffff", // nothing wrong comes last
  };
  const compare = (one, other) => (one < other ? -1 : Number(one > other));

  const sort = (column, down) => {
    sorted = { column, down };
    const key = keys[column] ?? (row => WORST_FIRST.indexOf(state(row, column)));
    const keyed = rows.map((row, place) => [key(row, place), row]);
    keyed.sort(([one], [other]) => (down ? compare(other, one) : compare(one, other)));
    table.tBodies[0].append(...keyed.map(([, row]) => row));
    mark();
  };
  const mark = () => {
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[sorted.column].setAttribute("aria-sort", sorted.down ? "descending" : "ascending");
  };

  // the address keeps what is asked for behind its #, so that it can be sent to a colleague
  const remember = () => {
    const asked = new URLSearchParams(inputs.filter(input => input.value).map(input => [input.name, input.value]));
    asked.set("sort", (sorted.down ? "-" : "") + sorted.column);
    history.replaceState(null, "", `#${asked}`);
  };
  const recall = () => {
    const asked = new URLSearchParams(location.hash.slice(1));
    for (const input of inputs) {
      input.value = asked.get(input.name) ?? "";
      if (input.selectedIndex === -1) input.selectedIndex = 0; // asked for what no longer is there
    }
    const [, minus, column] = /^(-?)(\d+)$/.exec(asked.get("sort")) ?? [, "", NAME];
    if (column in heads && (Number(column) !== sorted.column || Boolean(minus) !== sorted.down)) {
      sort(Number(column), Boolean(minus));
    }
    filter();
  };

  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    button.addEventListener("click", () => {
      sort(column, sorted.column === column && !sorted.down);
      remember();
    });
    head.append(button);
  });
  fields.addEventListener("input", filter);
  fields.addEventListener("change", remember);
  fields.querySelector("button").addEventListener("click", () => {
    for (const input of inputs) input.value = "";
    filter();
    remember();
  });
  addEventListener("hashchange", () => {
    if (location.hash.includes("sort=")) recall(); // else it is a link within the page
  });
  fields.hidden = false;
  mark();
  recall();
}
