(() => {
  "use strict";
  const table = JSON.parse(document.getElementById("table").textContent);
  // Reasons of more than one line make all rows higher.
  const ROW = table.reason.words.some(reason => reason.length > 36) ? 48 : 32, SPARE = 12;
  const total = table.column.length;
  const number = digits => value => value === null ? "" : value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(1) : value.toPrecision(digits);
  const interval = i => table.importance_low[i] === null || table.importance_high[i] === null ? "" : `${number(2)(table.importance_low[i])} to ${number(2)(table.importance_high[i])}`;
  const share = name => i => table[name][i] === null ? "" : `${Math.round(100 * table[name][i])} %`;
  const words = i => table.reason.words[table.reason.codes[i]];
  const has = name => Boolean(table[name]) && table[name].some(value => value !== null);
  const columns = [
    { title: "Column", width: "minmax(150px, 1.4fr)", of: i => table.column[i], key: i => table.column[i] },
    { title: "Kept", width: "58px", of: i => table.selected[i] ? "yes" : "", key: i => -table.selected[i] },
    { title: "Importance", width: "104px", num: true, of: i => number(3)(table.importance[i]), key: i => table.importance[i], down: true, shown: has("importance") },
    { title: "Interval", width: "148px", hint: "Of the importance, at the level of the test", of: interval, key: i => table.importance_low[i], down: true, shown: has("importance_low") },
    { title: "p alone", width: "84px", hint: "Adjusted p-value of the column on its own", num: true, of: i => number(2)(table.marginal_pvalue[i]), key: i => table.marginal_pvalue[i], shown: has("marginal_pvalue") },
    { title: "p", width: "82px", hint: "P-value of the answer that decided, adjusted where several columns share the level", num: true, of: i => number(2)(table.adjusted_pvalue[i]), key: i => table.adjusted_pvalue[i], shown: has("adjusted_pvalue") },
    { title: "Confirmed p", width: "104px", hint: "Adjusted p-value on the rows held out", num: true, of: i => number(2)(table.confirmed_pvalue[i]), key: i => table.confirmed_pvalue[i], shown: has("confirmed_pvalue") },
    { title: "Folds", width: "70px", hint: "Share of the folds that selected the column", num: true, of: share("stability"), key: i => table.stability[i], down: true, shown: has("stability") },
    { title: "Again", width: "72px", hint: "Share of the repeated selections that contain the column", num: true, of: i => share("refits")(i), key: i => table.refits[i], down: true, shown: has("refits") },
    { title: "Why", width: "minmax(300px, 2fr)", why: true, of: words, key: words },
  ].filter(column => column.shown !== false);
  const widths = columns.map(column => column.width).join(" ");
  const small = table.column.map(name => name.toLowerCase());
  const scroll = document.getElementById("scroll"), space = document.getElementById("space");
  const rows = document.getElementById("rows"), head = document.getElementById("head");
  const search = document.getElementById("search"), only = document.getElementById("only");
  const order = Array.from({ length: total }, (_, i) => i);
  let sorted = 1, down = false, shown = order;

  const compare = (a, b) => {
    if (a === b) return 0;
    if (a === null) return 1;
    if (b === null) return -1;
    return (a < b ? -1 : 1) * (down ? -1 : 1);
  };
  const texts = new Intl.Collator(undefined, { numeric: true });
  function sort() {
    const key = columns[sorted].key;
    const keys = order.map(() => null);
    for (let i = 0; i < total; i++) keys[i] = key(i);
    const isText = total > 0 && typeof keys[0] === "string";
    order.sort(isText
      ? (a, b) => texts.compare(keys[a], keys[b]) * (down ? -1 : 1) || a - b
      : (a, b) => compare(keys[a], keys[b]) || (table.importance[b] ?? -Infinity) - (table.importance[a] ?? -Infinity) || a - b);
    filter();
  }
  function filter() {
    const wanted = search.value.trim().toLowerCase();
    shown = wanted || only.checked ? order.filter(i => (!only.checked || table.selected[i]) && small[i].includes(wanted)) : order;
    document.getElementById("count").textContent = `${shown.length.toLocaleString()} of ${total.toLocaleString()} columns`;
    scroll.scrollTop = 0;
    draw();
  }
  function draw(first = Math.max(0, Math.floor(scroll.scrollTop / ROW) - SPARE), count = Math.ceil(scroll.clientHeight / ROW) + 2 * SPARE) {
    space.style.height = `${shown.length * ROW}px`;
    rows.style.transform = `translateY(${first * ROW}px)`;
    const made = document.createDocumentFragment();
    for (const i of shown.slice(first, first + count)) {
      const row = document.createElement("div");
      row.className = table.selected[i] ? "row kept-row" : "row";
      row.setAttribute("role", "row");
      row.style.gridTemplateColumns = widths;
      row.style.height = `${ROW}px`;
      row.dataset.column = i;
      row.tabIndex = 0;
      for (const column of columns) {
        const cell = document.createElement("span");
        cell.setAttribute("role", "cell");
        if (column.num || column.why) cell.className = column.num ? "num" : "why";
        cell.textContent = column.of(i);
        cell.title = cell.textContent;
        row.append(cell);
      }
      made.append(row);
    }
    rows.replaceChildren(made);
  }
  function headers() {
    head.replaceChildren(...columns.map((column, number) => {
      const cell = document.createElement("span");
      cell.setAttribute("role", "columnheader");
      cell.setAttribute("aria-sort", number !== sorted ? "none" : down ? "descending" : "ascending");
      if (column.num) cell.className = "num";
      cell.style.padding = "0";
      if (column.hint) cell.title = column.hint;
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = column.title + (number === sorted ? (down ? " ▾" : " ▴") : "");
      button.addEventListener("click", () => {
        down = number === sorted ? !down : Boolean(column.down);
        sorted = number;
        headers();
        sort();
        head.querySelectorAll("button")[number].focus();
      });
      cell.append(button);
      return cell;
    }));
  }
  const explanations = JSON.parse(document.getElementById("explanations").textContent);
  const detail = document.getElementById("detail");
  function explain(i) {
    const lines = explanations[i] ?? [`${table.column[i]}: ${words(i)}. The JSON report has the numbers; explain() in Python or on the command line has the questions.`];
    const title = document.createElement("h3");
    title.textContent = table.column[i];
    const made = lines.map((line, n) => {
      const paragraph = document.createElement("p");
      if (n > 0) paragraph.className = "question";
      paragraph.textContent = line;
      return paragraph;
    });
    detail.replaceChildren(title, ...made);
  }
  const rowOf = event => event.target.closest("[data-column]");
  rows.addEventListener("click", event => { if (rowOf(event)) explain(Number(rowOf(event).dataset.column)); });
  rows.addEventListener("keydown", event => { if (event.key === "Enter" && rowOf(event)) explain(Number(rowOf(event).dataset.column)); });
  head.style.gridTemplateColumns = widths;
  let waiting = false;
  scroll.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => { waiting = false; draw(); });
  });
  search.addEventListener("input", filter);
  only.addEventListener("change", filter);
  window.addEventListener("resize", () => draw());
  window.addEventListener("beforeprint", () => draw(0, 200));
  window.addEventListener("afterprint", () => draw());

  const root = document.documentElement;
  const wish = window.matchMedia("(prefers-color-scheme: dark)");
  root.dataset.theme = wish.matches ? "dark" : "light";
  wish.addEventListener("change", () => { root.dataset.theme = wish.matches ? "dark" : "light"; });
  document.getElementById("theme").addEventListener("click", () => { root.dataset.theme = root.dataset.theme === "dark" ? "light" : "dark"; });

  headers();
  sort();

  const top = document.getElementById("top");
  if (top) {
    const bounds = top.dataset.bounds.split(",");
    top.addEventListener("input", () => {
      document.getElementById("topsaid").textContent = `${top.value}: at least ${bounds[top.value - 1]}`;
    });
  }
})();
