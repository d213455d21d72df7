import assert from "node:assert/strict";
import { textTable } from "./text_table.ts";

const COLUMNS = [{ head: "POD" }, { head: "CPU", align: "right" }, { head: "REASON" }] as const;

Deno.test({
  name: "textTable() aligns columns by their widest cell and ends no line with blanks",
  permissions: "none",
  fn() {
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
  },
});

Deno.test({
  name: "textTable() paints the characters of a cell, not the space around them",
  permissions: "none",
  fn() {
    const rows = [[{ text: "a" }, { text: "5m", how: "red" }, { text: "x" }]] as const;
    const [, line] = textTable({ columns: COLUMNS, rows }, { color: true }).split("\n");
    assert.equal(line, "a      \x1b[31m5m\x1b[0m   x");
  },
});
