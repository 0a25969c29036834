"use strict";
{
  const inputs = [...document.querySelectorAll("[data-submission]")];
  const answered = inputs.filter(input => !input.closest("details"));
  const button = document.querySelector("[data-question]");
  const said = document.querySelector(".shown");
  let saved = true;

  const count = () => {
    const marked = answered.filter(input => input.value !== "").length;
    said.textContent = said.dataset.says.replace("#", marked);
  };
  const quoted = text => `"${text.replaceAll('"', '""')}"`;
  const table = () => [
    ["submission", button.dataset.question],
    ...inputs.filter(input => input.value !== "").map(input => [input.dataset.submission, input.value]),
  ].map(row => row.map(quoted).join(",") + "\n").join("");

  for (const [place, input] of inputs.entries()) {
    input.addEventListener("input", () => { saved = false; count(); });
    input.addEventListener("keydown", event => {
      if (event.key === "Enter") inputs[place + 1]?.focus();
    });
  }
  button.addEventListener("click", () => {
    const wrong = inputs.find(input => !input.checkValidity());
    if (wrong) { wrong.reportValidity(); return; }
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([table()], { type: "text/csv" }));
    link.download = `marks-${button.dataset.question}.csv`;
    link.click();
    saved = true;
  });
  addEventListener("beforeunload", event => { if (!saved) event.preventDefault(); });
  count();
}
