import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import { assertMatches } from "../fixtures/assert_matches.ts";
import { differencesOf } from "./stored_outputs.ts";
import { type Computed, golden, type GoldenRequest } from "./golden.ts";
import { inputsOf, reasonCounts, tableOf } from "./tables/decision_table.ts";

interface Played {
  readonly code: number;
  readonly lines: readonly string[];
  readonly files: Readonly<Record<string, string>>;
}

const STORED = { "moves.jsonl": "old\n" };

/** One part, `moves`, and what is stored by file. */
async function play(
  computed: Partial<Computed>,
  { stored = STORED, ...request }: Partial<GoldenRequest> & {
    readonly stored?: Readonly<Record<string, string>>;
  } = {},
): Promise<Played> {
  const files = new Map(Object.entries(stored));
  const lines: string[] = [];
  const compute = () => Promise.resolve({ notes: [], problems: [], ...computed });
  const code = await golden({
    parts: [{ name: "moves", file: "moves.jsonl", compute }],
    known: ["moves.jsonl"],
    append: [],
    accept: false,
    verbose: false,
    complete: false,
    ...request,
  }, {
    stored: {
      read: (file) => Promise.resolve(files.get(file)),
      write: (file, text) => Promise.resolve(void files.set(file, text)),
      remove: (file) => Promise.resolve(void files.delete(file)),
      sizes: () => Promise.resolve(new Map([...files].map(([file, { length }]) => [file, length]))),
    },
    out: (line) => lines.push(line.replace(/\d+\.\d s/, "1 s")),
  });
  return { code, lines, files: Object.fromEntries(files) };
}

const NEW = { "moves.jsonl": "new\n" };
const LEFT_OVER = { stored: { ...STORED, "gone.jsonl": "" } };
const LARGE = "x".repeat(300_000);
const MISSING = { leftOut: "kubectl is not installed" };

pure("golden() compares, stores what is accepted, and says what is wrong", async () => {
  const cases: readonly [Parameters<typeof play>, code: number, line: RegExp, files: object][] = [
    [[{ text: "old\n" }], 0, /^moves: unchanged \(moves\.jsonl, 1 s\)$/, STORED],
    [[{ text: "new\n" }], 1, /^moves: DIFFERS .*golden --accept/, STORED],
    [[{ text: "new\n" }, { ...LEFT_OVER, accept: true }], 0, /stored.*removed/, NEW],
    [[{ text: "old\n" }, LEFT_OVER], 1, /gone\.jsonl: DIFFERS/, LEFT_OVER.stored],
    [[{ text: "new\n", problems: ["too rare"] }, { accept: true }], 1, /^moves: too rare/, STORED],
    [[MISSING, { accept: true }], 0, /^moves: left out, kubectl/, STORED],
    [[MISSING, { complete: true }], 1, /^moves: MISSING/, STORED],
    [[{ text: "old\n", notes: ["A 3"] }, { verbose: true }], 0, / {3}A 3$/, STORED],
    [
      [{ text: LARGE }, { stored: { "moves.jsonl": LARGE } }],
      ...[1, /300000.*moves\.jsonl/, { "moves.jsonl": LARGE }] as const,
    ],
  ];
  for (const [args, code, line, files] of cases) {
    const played = await play(...args);
    assert.equal(played.code, code, String(line));
    assert.match(played.lines.join(" "), line);
    assert.deepEqual(played.files, files);
  }
  const compute = (text: string) => Promise.resolve({ text, notes: [], problems: [] });
  const parts = [{ name: "moves", file: "moves.jsonl", compute }];
  const { files } = await play({}, { parts, append: ["1", '{"a":2}'], accept: true });
  assert.equal(files["moves.jsonl"], 'old\n{"in":1}\n{"in":{"a":2}}\n');
});

pure("inputsOf() reads what tableOf() has written", () => {
  const resources = { requests: { cpu: "1" }, limits: { cpu: "2" } };
  const input = {
    pod: {
      containers: [{ name: "app", resources, restartPolicy: "Always" }, {
        name: "b",
        resources: {},
      }],
      initContainers: [],
      containerStatuses: [{ name: "app", allocatedResources: { cpu: "1" } }],
    },
  };
  const { text } = tableOf([{ input, result: { reason: null } }], {
    ...{ reasonsOf: () => [], expected: [], impossible: {} },
  });
  assert.match(text, /"app":\{"requests":/);
  assert.deepEqual(inputsOf(text), [input]);
});

pure("reasonCounts() finds reasons that are too rare, unless they are listed as impossible", () => {
  const problems = (found: readonly string[], impossible: Readonly<Record<string, string>> = {}) =>
    reasonCounts({ found, expected: ["Applied", "PodGone"], impossible }).problems;
  const applied = ["Applied", "Applied", "Applied"];
  assertMatches(problems([...applied, "PodGone"]), [/PodGone.* 1 .* 3$/]);
  assert.deepEqual(problems(applied, { PodGone: "it is gone" }), []);
  assertMatches(problems([...applied, "PodGone"], { PodGone: "it is gone" }), [
    /PodGone.*impossible/,
  ]);
});

/** A table of these results, each of another input. */
function tableWith(results: Readonly<Record<string, unknown>>): string {
  return Object.entries(results)
    .map(([input, result]) => `${JSON.stringify({ in: input, ...result as object })}\n`).join("");
}

pure("differencesOf() counts, and shows the first place", () => {
  const table = tableWith({ a: { n: 1 }, b: { n: 2 }, c: { n: 3 } });
  const long = (b: number): string => tableWith({ a: { filler: "x".repeat(2000), b }, z: {} });
  const twice = (n: number): string => `{"in":"a","n":1}\n{"in":"a","n":${n}}\n`;
  const reasons = (...all: readonly (string | null)[]): string =>
    tableWith({ ...all.map((reason) => ({ reason })) });
  const cases: readonly [stored: string | undefined, fresh: string, readonly string[]][] = [
    ["a\n", "a\n", []],
    [undefined, "a\n", ["nothing is stored yet"]],
    [table, tableWith({ a: { n: 1 }, b: { n: 20 }, c: { n: 30 } }), [
      "rows: 2 of 3 differ, 0 new, 0 gone; the first is row 2",
      '  in   "b"',
      "  1 value differs, the first is n",
      "    was  2",
      "    is   20",
    ]],
    [table, tableWith({ z: { n: 0 }, b: { n: 2 }, c: { n: 3 } }), [
      "rows: 0 of 3 differ, 1 new, 1 gone; the first is row 1",
      '  in   "z"',
      "  1 value differs, the first is the whole",
      "    was  not there",
      '    is   {"n":0}',
    ]],
    [table, tableWith({ b: { n: 2 }, a: { n: 1 }, c: { n: 3 } }), [
      "the rows are in another order",
    ]],
    [twice(2), twice(3), [
      "rows: 1 of 2 differ, 0 new, 0 gone; the first is row 2",
      '  in   "a"',
      "  1 value differs, the first is n",
      "    was  2",
      "    is   3",
    ]],
    [long(1), long(2), [
      "rows: 1 of 2 differ, 0 new, 0 gone; the first is row 1",
      '  in   "a"',
      "  1 value differs, the first is b",
      "    was  1",
      "    is   2",
    ]],
    ['{"runs":[{"p99":1,"p50":2},{"p99":3}]}', '{"runs":[{"p99":1,"p50":5},{}]}', [
      "2 values differ, the first is runs.0.p50",
      "  was  2",
      "  is   5",
    ]],
    ['{"a":1,"b":2}', '{"b":2,"a":1}', [
      "the values are equal, the text is not: order or white space",
    ]],
    [reasons("Cooldown", null, null, "DryRun"), reasons(null, "DryRun", "DryRun", "DryRun"), [
      "rows: 3 of 4 differ, 0 new, 0 gone; the first is row 1",
      '  in   "0"',
      "  1 value differs, the first is reason",
      '    was  "Cooldown"',
      "    is   null",
      "  2 × none → DryRun",
      "  1 × Cooldown → none",
    ]],
  ];
  for (const [stored, fresh, lines] of cases) {
    assert.deepEqual(differencesOf(stored, fresh), lines);
  }
});
