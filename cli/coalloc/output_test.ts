import assert from "node:assert/strict";
import fc from "fast-check";
import { pure } from "../../tests/fixtures/pure.ts";
import { dataOutput, type OutputFormat, structuredOutput, textTable } from "./output.ts";
import { durationParser, workloadArgument } from "./formats.ts";
import {
  ageText,
  coresText,
  cpuText,
  memoryText,
  priceText,
  throttledText,
  workloadTitle,
} from "../../shared/view/figures.ts";
import { InvalidArgumentError } from "commander";

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

pure("dataOutput() quotes commas, quotes and pipes as each form asks", () => {
  const table = {
    columns: [{ head: "A", cell: (row: string) => row }],
    rows: ['say "a, b"', "a|b"],
  };
  const world = { err: () => {} };
  const said = (output: OutputFormat) => dataOutput({ notes: [] }, table, { output, world });
  assert.equal(said("csv"), 'A\n"say ""a, b"""\na|b\n');
  assert.equal(said("markdown"), '| A |\n| --- |\n| say "a, b" |\n| a\\|b |\n');
  assert.equal(said("wide"), undefined);
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

pure("cpuText() and throttledText() round, and show what is not known", () => {
  assert.equal(cpuText(449.6), "450m");
  assert.equal(cpuText(0), "0m");
  assert.equal(cpuText(undefined), "-");
  assert.equal(throttledText(411.5), "412");
  assert.equal(throttledText(undefined), "-");
  assert.equal(coresText(3421), "3.42");
});

pure("priceText() keeps three digits, and has signs for the ends of the scale", () => {
  assert.equal(priceText(0.266_666), "0.267");
  assert.equal(priceText(1234.56789), "1235");
  assert.equal(priceText(0.000_012_345), "0.0000123");
  assert.equal(priceText(0), "0");
  assert.equal(priceText(null), "∞");
  assert.equal(priceText(undefined), "-");
});

pure("ageText() writes spans in one unit", () => {
  assert.deepEqual(
    [0, 250, 1000, 119_000, 120_000, 7_199_000, 7_200_000, 172_800_000, -5].map(ageText),
    ["0ms", "250ms", "1s", "119s", "2m", "119m", "2h", "2d", "0ms"],
  );
  assert.equal(ageText(undefined), "-");
  assert.equal(ageText(NaN), "-");
});

pure("memoryText() has three digits in the largest unit", () => {
  const expected: readonly (readonly [number | undefined, string])[] = [
    [undefined, "-"],
    [0, "0"],
    [512, "512"],
    [1023.7 * 1024, "1Mi"],
    [88_617_123, "84.5Mi"],
    [128 * 2 ** 20, "128Mi"],
    [1000 * 2 ** 20, "1000Mi"],
    [2 ** 30, "1Gi"],
    [1.5 * 2 ** 30, "1.5Gi"],
    [2 ** 53, "8Pi"],
  ];
  for (const [bytes, text] of expected) assert.equal(memoryText(bytes), text, `${bytes}`);
});

pure("memoryText() is at most half a percent off, and short", () => {
  const factors = { "": 0, Ki: 1, Mi: 2, Gi: 3, Ti: 4, Pi: 5 };
  fc.assert(
    fc.property(fc.double({ min: 1, max: 2 ** 53, noNaN: true }), (draw) => {
      const bytes = Math.round(draw);
      const [, digits = "", unit = ""] = /^([\d.]+)(\D*)$/.exec(memoryText(bytes)) ?? [];
      const shown = Number(digits) * 1024 ** factors[unit as keyof typeof factors];
      assert.ok(Math.abs(shown - bytes) <= bytes * 0.005, `${bytes}: ${digits}${unit}`);
      assert.ok(digits.length <= 4);
    }),
  );
});

pure("durationParser() reads units, takes a bare number for seconds and names the bounds", () => {
  const parse = durationParser({ leastMs: 500, mostMs: 60_000 });
  assert.equal(parse("2"), 2000);
  assert.equal(parse("1.5s"), 1500);
  assert.equal(parse("500ms"), 500);
  assert.equal(parse("1m"), 60_000);
  for (const text of ["web-1", "0", "61s", "", "-1s", "2 s"]) {
    assert.throws(() => parse(text), InvalidArgumentError, text);
  }
  assert.throws(() => parse("web-1"), /from 500ms to 1m/);
  const advised = durationParser({ leastMs: 500, mostMs: 60_000, remedy: "write --watch=2s" });
  assert.throws(() => advised("web-1"), /^InvalidArgumentError: Give .*; write --watch=2s$/);
});

pure("workloadArgument() reads a name, with a kind as kubectl takes it, and nothing else", () => {
  assert.deepEqual(workloadArgument("web"), { name: "web" });
  for (const kind of ["deployment", "deployments", "deploy", "Deployment", "deployment.apps"]) {
    assert.deepEqual(workloadArgument(`${kind}/web`), { kind: "Deployment", name: "web" }, kind);
  }
  assert.deepEqual(workloadArgument("sts/db"), { kind: "StatefulSet", name: "db" });
  assert.deepEqual(workloadArgument("ds/log"), { kind: "DaemonSet", name: "log" });
  assert.equal(workloadTitle({ kind: "StatefulSet", name: "db" }), "statefulset/db");
  for (const argument of ["", "/", "pod/web", "shop/web", "deploy/", "/web", "a/deploy/web"]) {
    assert.equal(workloadArgument(argument), undefined, argument);
  }
});
