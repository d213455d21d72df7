import assert from "node:assert/strict";
import { auditLineSchema } from "../shared/audit_log.ts";
import { pure } from "../tests/fixtures/pure.ts";
import { declaredTypes, isMinded, parseDocFindings } from "./check_api_docs.ts";
import { figureFaults, type Figures, figuresSchema } from "./figures/figures.ts";
import {
  hasTest,
  ignoredIf,
  relativeLinks,
  taskNames,
  testReferences,
} from "./markdown_references.ts";
import { areaSize, countLines, nearestRank } from "./size_table.ts";

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

pure("relativeLinks() finds inline links, images, references and HTML", () => {
  const markdown = [
    'See [scope](SCOPE.md), [rules](../CONTRIBUTING.md#tests "how") and [why][1].',
    "![picture](docs/demo.svg)",
    '<img alt="x" src="docs/a.png">',
    "[1]: docs/decisions/0001.md",
  ].join("\n");
  assert.deepEqual(
    relativeLinks(markdown),
    ["SCOPE.md", "../CONTRIBUTING.md", "docs/demo.svg", "docs/a.png", "docs/decisions/0001.md"],
  );
});

pure("relativeLinks() leaves out other sites, fragments and code", () => {
  const markdown = "[a](https://a.example) [b](#b) `[c](c.md)`\n```\n[d](d.md)\n```\n";
  assert.deepEqual(relativeLinks(markdown), []);
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
    const text = Deno.readTextFileSync(new URL("../docs/operations.md", import.meta.url));
    const [, chapter = ""] = /^## Audit log\n(.*?)^## /ms.exec(text) ?? [];
    const rows = [...chapter.matchAll(/^\| `(\S+)` +\| (.*?) +\|$/gm)].map(([, ...cells]) => cells);
    const fields = Object.entries(auditLineSchema.shape);
    assert.deepEqual(rows, fields.map(([name, { description }]) => [name, description]));
    const [, example = ""] = /```json\n(.*?)```/s.exec(chapter) ?? [];
    auditLineSchema.strict().parse(JSON.parse(example));
  },
});

pure("countLines() distinguishes lines that are only a comment from the rest", () => {
  const text = "/**\n * Doc.\n */\nconst a = 1; // beside code\n\n// alone\n/* one line */\nf();\n";
  assert.deepEqual(countLines(text), { lines: 8, commentLines: 5 });
  assert.deepEqual(countLines("f();"), { lines: 1, commentLines: 0 });
});

pure("nearestRank() is the value at the rounded-up rank", () => {
  assert.equal(nearestRank([5, 1, 3], 0.5), 3);
  assert.equal(nearestRank([1, 2, 3, 4], 0.5), 2);
  assert.equal(nearestRank([1, 2, 3, 4], 0.95), 4);
  assert.equal(nearestRank([], 0.5), 0);
});

pure("areaSize() sums sources and sets tests against them", () => {
  const files = [
    { area: "shared", test: false, lines: 100, commentLines: 20 },
    { area: "shared", test: false, lines: 300, commentLines: 60 },
    { area: "shared", test: true, lines: 600, commentLines: 0 },
  ];
  assert.deepEqual(areaSize("shared", files), {
    area: "shared",
    files: 2,
    lines: 400,
    median: 100,
    p95: 300,
    max: 300,
    commentShare: 0.2,
    testRatio: 1.5,
  });
  assert.equal(areaSize("none", []).testRatio, 0);
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

Deno.test("figureFaults() finds none where each figure of the section has an origin", () => {
  assert.deepEqual(faults(COMPLETE), []);
});

Deno.test("figureFaults() finds figures that have changed on either side, in tables and in text", () => {
  // The value that the page lacks, and the figure that the source lacks.
  assert.equal(faults({ ...COMPLETE, "mean: wait": "10.4 | never" }).length, 2);
  assert.equal(faults({ ...COMPLETE, "wait of a burst": "waits for 2.4 s" }).length, 2);
  assert.equal(faults(COMPLETE, PAGE.replace("10.5", "10.6")).length, 2);
  assert.equal(faults(COMPLETE, PAGE.replace("30", "15")).length, 2);
});

Deno.test("figureFaults() finds what was added to the section, but not outside of it", () => {
  assert.equal(faults(COMPLETE, PAGE.replace("```\n\n## L", "```\n\nOr 3 ms.\n\n## L")).length, 1);
  assert.equal(faults(COMPLETE, `${PAGE}\nOr 3 ms.\n`).length, 0);
  const { "mean: wait": _, ...withoutRow } = COMPLETE;
  assert.equal(faults(withoutRow).length, 1);
  assert.equal(faults({ ...withoutRow, "mean: delay": "10.5 | never" }).length, 1);
});

Deno.test("figureFaults() finds code that was moved", () => {
  assert.equal(faults(COMPLETE, PAGE, ["shared/market_solver.ts"]).length, 1);
});

Deno.test("figuresSchema refuses measurements without a task or an origin", () => {
  const [measurement] = source(COMPLETE).measurements;
  for (const wrong of [{ command: "by hand" }, { commit: "HEAD" }, { date: "yesterday" }]) {
    const measurements = [{ ...measurement, ...wrong }];
    assert.equal(figuresSchema.safeParse({ complete: {}, measurements }).success, false);
  }
});
