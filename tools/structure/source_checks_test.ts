import assert from "node:assert/strict";
import { auditLineSchema } from "../../shared/audit_log.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { declaredTypes, isMinded, parseDocFindings } from "../check_api_docs.ts";
import { figureFaults, type Figures, figuresSchema } from "../figures/figures.ts";
import {
  hasTest,
  ignoredIf,
  relativeLinks,
  taskNames,
  testReferences,
} from "../markdown_references.ts";
import { areaSize, countLines } from "../size_table.ts";
import { featureImports, folderGraph, importGraph, onCycles } from "./import_graph.ts";
import { MAX_FILES, structureFaults } from "./structure_faults.ts";
import { privateWords } from "./vocabulary.ts";

const MISSING = "exported symbol is missing JSDoc documentation";
const HIDDEN = "public type 'A' references private type 'Hidden'";
const OUTPUT = `error[missing-jsdoc]: ${MISSING}
  --> /p/shared/a.ts:12:1
   | 
12 | export function f(): void {}
   | ^


error[private-type-ref]: ${HIDDEN}
  --> /p/shared/b.ts:9:1
  | 
9 | export type A = Hidden;
  | ^
  = hint: make the referenced type public or remove the reference
  | 
1 | type Hidden = 1;
  | -


error: Found 2 documentation lint errors.
`;

pure("parseDocFindings() gives code, message, place and line of each finding", () => {
  assert.deepEqual(parseDocFindings(OUTPUT), [
    {
      code: "missing-jsdoc",
      message: MISSING,
      place: "/p/shared/a.ts:12:1",
      line: "export function f(): void {}",
    },
    {
      code: "private-type-ref",
      message: HIDDEN,
      place: "/p/shared/b.ts:9:1",
      line: "export type A = Hidden;",
    },
  ]);
  assert.deepEqual(parseDocFindings("Checked 3 files\n"), []);
});

pure("isMinded() passes over members, schemas, typed constants and types of packages only", () => {
  const finding = (code: string, line: string, message = ""): boolean =>
    isMinded({ code, line, message, place: "" }, new Set(["Hidden"]));
  assert.equal(finding("missing-jsdoc", "  readonly name: string;"), false);
  assert.equal(finding("missing-jsdoc", "export const a = 1;"), true);
  assert.equal(finding("missing-explicit-type", "export const podSchema = z.object({"), false);
  assert.equal(finding("missing-explicit-type", "export const pod = load();"), true);
  assert.equal(finding("private-type-ref", "", "references private type 'ZodType'"), false);
  assert.equal(finding("private-type-ref", "", "references private type 'Hidden'"), true);
  assert.equal(finding("missing-return-type", "export const f: F = (a) => a;"), false);
  assert.equal(finding("missing-return-type", "export function f() {}"), true);
});

pure("declaredTypes() finds interfaces, types and classes, exported or not", () => {
  const source = "export interface A {}\ntype B = 1;\nexport class C {}\nconst D = 1;\n";
  assert.deepEqual(declaredTypes(source), ["A", "B", "C"]);
});

pure("relativeLinks() finds links and images, without other sites, fragments and code", () => {
  const markdown = [
    'See [scope](SCOPE.md), [rules](../CONTRIBUTING.md#tests "how") and [why][1].',
    "![picture](docs/demo.svg)",
    '<img alt="x" src="docs/a.png">',
    "[1]: docs/decisions/0001.md",
    "[a](https://a.example) [b](#b) `[c](c.md)`\n```\n[d](d.md)\n```\n",
  ].join("\n");
  assert.deepEqual(
    relativeLinks(markdown),
    ["SCOPE.md", "../CONTRIBUTING.md", "docs/demo.svg", "docs/a.png", "docs/decisions/0001.md"],
  );
});

pure("taskNames() finds each task once, by either way to start Deno", () => {
  const markdown = "`deno task demo --trace FILE`, `npx -y deno@2.9.6 task test`, deno task demo";
  assert.deepEqual(taskNames(markdown), ["demo", "test"]);
  assert.deepEqual(taskNames("`deno task bench:solver`"), ["bench:solver"]);
});

pure("testReferences() finds tests behind links to their files", () => {
  const markdown = '| [a_test.ts](../tests/a_test.ts): "solve() is exact"<br>[b_test.ts]' +
    '(b_test.ts): "it works (mostly)" | [c_test.ts](c_test.ts) [d.ts](d.ts): "no test" |';
  assert.deepEqual(testReferences(markdown), [
    { file: "../tests/a_test.ts", name: "solve() is exact" },
    { file: "b_test.ts", name: "it works (mostly)" },
  ]);
  assert.deepEqual(
    testReferences('- [a_test.ts](a_test.ts):\n  "one\n  name"; "two";\n  "three"'),
    [
      { file: "a_test.ts", name: "one name" },
      { file: "a_test.ts", name: "two" },
      { file: "a_test.ts", name: "three" },
    ],
  );
});

pure("hasTest() finds a name that is written whole, or in parts, and no part of one", () => {
  const source = 'Deno.test("one is whole", fn);\nDeno.test({ name:\n  "two " +\n  "in parts" });';
  assert.ok(hasTest(source, "one is whole"));
  assert.ok(hasTest(source, "two in parts"));
  assert.ok(!hasTest(source, "one is"));
  assert.ok(!hasTest(source, "three"));
});

pure("ignoredIf() gives the condition of that test alone", () => {
  const source = [
    'Deno.test("plain", () => {});',
    "Deno.test({",
    '  name: "one " +',
    '    "more",',
    "  ignore: !has() || late(),",
    "  fn() {},",
    "});",
    'Deno.test({ name: "free", fn() {} });',
    "Deno.test({",
    "  ignore,",
    '  name: "short",',
    "  fn: short,",
    "});",
    'Deno.test.ignore("never", () => {});',
  ].join("\n");
  const names = ["plain", "one more", "free", "short", "never"];
  assert.deepEqual(names.map((name) => ignoredIf(source, name)), [
    undefined,
    "!has() || late()",
    undefined,
    "ignore",
    "true",
  ]);
});

Deno.test({
  name: "docs/operations.md has the fields of the audit log as their schema describes them",
  permissions: { read: true },
  fn() {
    const text = Deno.readTextFileSync(new URL("../../docs/operations.md", import.meta.url));
    const [, chapter = ""] = /^## Audit log\n(.*?)^## /ms.exec(text) ?? [];
    const rows = [...chapter.matchAll(/^\| `(\S+)` +\| (.*?) +\|$/gm)].map(([, ...cells]) => cells);
    const fields = Object.entries(auditLineSchema.shape);
    assert.deepEqual(rows, fields.map(([name, { description }]) => [name, description]));
    const [, example = ""] = /```json\n(.*?)```/s.exec(chapter) ?? [];
    auditLineSchema.strict().parse(JSON.parse(example));
  },
});

pure("areaSize() sums sources, by lines and comments, and sets tests against them", () => {
  const text = "/**\n * Doc.\n */\nconst a = 1; // beside code\n\n// alone\n/* one line */\nf();\n";
  const files = [
    { area: "shared", test: false, lines: 24, commentLines: 3 },
    { area: "shared", test: false, ...countLines(text) },
    { area: "shared", test: true, lines: 64, commentLines: 0 },
  ];
  assert.deepEqual(areaSize("shared", files), {
    ...{ area: "shared", files: 2, lines: 32, median: 8, p95: 24, max: 24 },
    ...{ commentShare: 0.25, testRatio: 2 },
  });
  assert.deepEqual(countLines("f();"), { lines: 1, commentLines: 0 });
  assert.deepEqual([areaSize("none", []).testRatio, areaSize("none", []).median], [0, 0]);
});

const PAGE = `# Product

It waits 5 s.

## Figures

Within a run of 30 minutes a burst waits for
2.3 s:

| measure | ours, P99 | theirs |
| ------- | --------: | ------ |
| wait    |      10.5 | never  |

\`\`\`sh
sleep 7 s
\`\`\`

## Limits

At most 9 s.
`;

/** A measurement of `PAGE`, with these figures. */
function source(figures: Record<string, string>): Figures {
  return figuresSchema.parse({
    complete: { "README.md": "Figures" },
    measurements: [{
      command: "deno task bench:wait",
      commit: "0123abc",
      date: "2026-11-22",
      machine: "2 CPUs",
      scene: ["a run of 30 minutes"],
      code: ["shared/market"],
      figures: { "README.md": figures },
    }],
  });
}

function faults(
  figures: Record<string, string>,
  page = PAGE,
  files = ["shared/market/solver.ts"],
): string[] {
  return figureFaults(source(figures), { pages: new Map([["README.md", page]]), files });
}

const COMPLETE = { "mean: wait": "10.5 | never", "wait of a burst": "waits for 2.3 s" };

Deno.test("figureFaults() counts what has changed or was added on either side, and code that was moved", () => {
  const { "mean: wait": _, ...withoutRow } = COMPLETE;
  const added = PAGE.replace("```\n\n## L", "```\n\nOr 3 ms.\n\n## L");
  const rows: readonly (readonly [count: number, ...Parameters<typeof faults>])[] = [
    [0, COMPLETE],
    // The value that the page lacks, and the figure that the source lacks.
    [2, { ...COMPLETE, "mean: wait": "10.4 | never" }],
    [2, { ...COMPLETE, "wait of a burst": "waits for 2.4 s" }],
    [2, COMPLETE, PAGE.replace("10.5", "10.6")],
    [2, COMPLETE, PAGE.replace("30", "15")],
    [1, COMPLETE, added],
    // Outside of the section.
    [0, COMPLETE, `${PAGE}\nOr 3 ms.\n`],
    [1, withoutRow],
    [1, { ...withoutRow, "mean: delay": "10.5 | never" }],
    [1, COMPLETE, PAGE, ["shared/market_solver.ts"]],
  ];
  for (const [count, ...given] of rows) {
    assert.equal(faults(...given).length, count, JSON.stringify(given));
  }
});

Deno.test("figuresSchema refuses measurements without a task or an origin", () => {
  const [measurement] = source(COMPLETE).measurements;
  for (const wrong of [{ command: "by hand" }, { commit: "HEAD" }, { date: "yesterday" }]) {
    const measurements = [{ ...measurement, ...wrong }];
    assert.equal(figuresSchema.safeParse({ complete: {}, measurements }).success, false);
  }
});

const graph = importGraph(
  new Map([
    ["shared/market/a.ts", 'import { b } from "../placement/b.ts";'],
    ["shared/placement/b.ts", 'import type { c } from "./c.ts";'],
    ["shared/placement/c.ts", 'export const d = await import("../market/d.ts");'],
    ["shared/market/d.ts", 'import "node:fs";'],
  ]),
);

Deno.test("onCycles() finds folders that import each other, without a cycle of files", () => {
  assert.deepEqual(onCycles(graph), []);
  assert.deepEqual(onCycles(folderGraph(graph)), ["shared/market", "shared/placement"]);
});

Deno.test("onCycles() leaves out what lies between two cycles", () => {
  const edges = { a: ["b"], b: ["a", "c"], c: ["d"], d: ["e"], e: ["d"] };
  const between = new Map(Object.entries(edges));
  assert.deepEqual(onCycles(between), ["a", "b", "d", "e"]);
});

Deno.test("featureImports() finds imports between features", () => {
  assert.deepEqual(featureImports(graph), [
    ["shared/market/a.ts", "shared/placement/b.ts"],
    ["shared/placement/c.ts", "shared/market/d.ts"],
  ]);
});

Deno.test("privateWords() reads identifiers word by word, and names the line", () => {
  const words = (path: string, text: string): readonly string[] =>
    privateWords(path, text).map(({ word, line }) => `${word}:${line}`);
  const source = "const x = 1;\nconst podWishes = keep_house(); // forward, towards";
  assert.deepEqual(words("a.ts", source), ["wishes:2", "keep house:2"]);
  assert.deepEqual(words("a.md", "It hands on\nwhat is standing. Leadership changed hands."), [
    ...["hands:1", "standing:2"],
  ]);
  assert.deepEqual(words("cli/coalloc/completion/a.ts", "words, told"), ["told:1"]);
});

Deno.test("structureFaults() has a line for each fault", () => {
  const big = Array.from({ length: MAX_FILES + 1 }, (_, i): [string, string] => [
    `shared/big/f${i}.ts`,
    "",
  ]);
  const most = new Map([...big.slice(1), ["shared/big/f1_test.ts", ""]]);
  assert.deepEqual(structureFaults(most), []);
  const faulty = new Map([
    ...big,
    ["a/b.ts", "// deno-lint-ignore house/function-length\nfunction f() {}\n"],
    ["a/c.ts", 'import("./c.ts");\n// nobody\n'],
    ["shared/market/d.ts", 'import "../placement/e.ts";\n'],
    ["shared/placement/e.ts", 'import "../market/f.ts";\n'],
    ["shared/market/f.ts", ""],
    ["shared/resize/g.ts", 'import "../market/f.ts";\n'],
    ["shared/market/h.ts", 'import "../resize/g.ts";\n'],
    ["controller/resize/i.ts", 'import "../allocation/j.ts";\n'],
    ["controller/allocation/j.ts", ""],
  ]);
  assert.deepEqual(structureFaults(faulty).map((fault) => fault.split(":")[0]), [
    ...["shared/big", "a/c.ts", "shared/market", "shared/placement", "shared/resize"],
    ...["shared/market/d.ts", "shared/placement/e.ts", "shared/resize/g.ts"],
    ...["controller/resize/i.ts", "a/b.ts", "a/c.ts"],
  ]);
});
