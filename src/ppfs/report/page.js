(() => {
  "use strict";
  const table = JSON.parse(document.getElementById("table").textContent);
  const ROW = 32, SPARE = 12;
  const total = table.column.length;
  const number = digits => value => value === null ? "" : value !== 0 && Math.abs(value) < 1e-3 ? value.toExponential(1) : value.toPrecision(digits);
  const importance = i => {
    const value = table.importance[i], low = table.importance_low[i], high = table.importance_high[i];
    if (value === null) return "";
    return low === null || high === null ? number(3)(value) : `${number(3)(value)} (${number(2)(low)} to ${number(2)(high)})`;
  };
  const columns = [
    { title: "Column", of: i => table.column[i], key: i => table.column[i] },
    { title: "Kept", of: i => table.selected[i] ? "yes" : "", key: i => -table.selected[i] },
    { title: "Importance", of: importance, key: i => table.importance[i], down: true },
    { title: "p", num: true, of: i => number(2)(table.pvalue[i]), key: i => table.pvalue[i] },
    { title: "Adjusted p", num: true, of: i => number(2)(table.adjusted_pvalue[i]), key: i => table.adjusted_pvalue[i] },
    { title: "Folds", num: true, of: i => table.stability[i] === null ? "" : `${Math.round(100 * table.stability[i])} %`, key: i => table.stability[i], down: true },
    { title: "Why", of: i => table.reason.words[table.reason.codes[i]], key: i => table.reason.words[table.reason.codes[i]] },
  ];
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
      for (const column of columns) {
        const cell = document.createElement("span");
        cell.setAttribute("role", "cell");
        if (column.num) cell.className = "num";
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
})();
