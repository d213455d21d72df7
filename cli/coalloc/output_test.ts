import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { structuredOutput, textTable } from "./output.ts";

pure("structuredOutput() writes JSON and YAML without absent members, and no table", () => {
  const value = { pod: "web", limit: undefined, price: null, containers: [{ name: "app" }] };
  assert.equal(
    structuredOutput(value, "yaml"),
    "pod: web\nprice: null\ncontainers:\n  - name: app\n",
  );
  assert.deepEqual(JSON.parse(structuredOutput(value, "json") ?? ""), {
    pod: "web",
    price: null,
    containers: [{ name: "app" }],
  });
  assert.equal(structuredOutput(value, "table"), undefined);
  assert.equal(structuredOutput(value, "wide"), undefined);
});

const COLUMNS = [{ head: "POD" }, { head: "CPU", align: "right" }, { head: "REASON" }] as const;

pure("textTable() aligns columns by their widest cell and ends no line with blanks", () => {
  const rows = [
    [{ text: "web" }, { text: "1200m" }, { text: "Throttled" }],
    [{ text: "batch-7" }, { text: "50m" }, { text: "" }],
  ];
  assert.equal(
    textTable({ columns: COLUMNS, rows }),
    `\
POD         CPU   REASON
web       1200m   Throttled
batch-7     50m
`,
  );
});

pure("textTable() paints the characters of a cell, not the space around them", () => {
  const rows = [[{ text: "a" }, { text: "5m", how: "red" }, { text: "x" }]] as const;
  const [, line] = textTable({ columns: COLUMNS, rows }, { color: true }).split("\n");
  assert.equal(line, "a      \x1b[31m5m\x1b[0m   x");
});
