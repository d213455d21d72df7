import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import { type Computed, golden, type GoldenRequest } from "./golden.ts";
import { assertMatches } from "../fixtures/assert_matches.ts";
import { reasonCounts } from "./tables/decision_table.ts";

interface Played {
  readonly code: number;
  readonly lines: readonly string[];
  readonly files: ReadonlyMap<string, string>;
}

/** One part, `moves`, and what is stored by file. */
async function play(
  computed: Partial<Computed>,
  { stored = {}, ...request }: Partial<GoldenRequest> & {
    readonly stored?: Readonly<Record<string, string>>;
  } = {},
): Promise<Played> {
  const files = new Map(Object.entries(stored));
  const lines: string[] = [];
  const code = await golden({
    files: new Map([["moves", "moves.jsonl"]]),
    known: ["moves.jsonl"],
    accept: false,
    verbose: false,
    ...request,
  }, {
    compute: (names) =>
      Promise.resolve(names.map((name) => ({ name, ms: 0, notes: [], problems: [], ...computed }))),
    stored: {
      read: (file) => Promise.resolve(files.get(file)),
      write: (file, text) => Promise.resolve(void files.set(file, text)),
      remove: (file) => Promise.resolve(void files.delete(file)),
      names: () => Promise.resolve([...files.keys()]),
      sizes: () => Promise.resolve(new Map([...files].map(([file, { length }]) => [file, length]))),
    },
    out: (line) => lines.push(line),
  });
  return { code, lines, files };
}

const STORED = { "moves.jsonl": "old\n" };

pure("golden() passes where the output is what is stored", async () => {
  const { code, lines } = await play({ text: "old\n" }, { stored: STORED });
  assert.deepEqual([code, lines], [0, ["moves: unchanged (moves.jsonl, 0.0 s)"]]);
});

pure("golden() fails where it is not, and stores nothing", async () => {
  const { code, lines, files } = await play({ text: "new\n" }, { stored: STORED });
  assert.equal(code, 1);
  assert.equal(lines[0], "moves: DIFFERS (moves.jsonl, 0.0 s)");
  assert.match(lines.at(-1) ?? "", /golden --accept/);
  assert.deepEqual(Object.fromEntries(files), STORED);
});

pure("golden() stores what is accepted, and removes files of no part", async () => {
  const stored = { ...STORED, "gone.jsonl": "" };
  const { code, files } = await play({ text: "new\n" }, { stored, accept: true });
  assert.deepEqual([code, Object.fromEntries(files)], [0, { "moves.jsonl": "new\n" }]);
});

pure("golden() fails on a file of no part", async () => {
  const stored = { ...STORED, "gone.jsonl": "" };
  const { code, lines } = await play({ text: "old\n" }, { stored });
  assert.equal(code, 1);
  assert.match(lines[1] ?? "", /^gone\.jsonl: DIFFERS/);
});

pure("golden() never stores an output with a problem", async () => {
  const computed = { text: "new\n", problems: ["reason AsSpecified occurs in 0 rows"] };
  const { code, lines, files } = await play(computed, { stored: STORED, accept: true });
  assert.equal(code, 1);
  assert.equal(lines[0], "moves: reason AsSpecified occurs in 0 rows");
  assert.deepEqual(Object.fromEntries(files), STORED);
});

pure("golden() leaves out what this machine can't compute, and keeps its file", async () => {
  const { code, lines, files } = await play({ leftOut: "kubectl is not installed" }, {
    stored: STORED,
    accept: true,
  });
  assert.equal(code, 0);
  assert.deepEqual(lines.map((line) => line.split(",")[0]), ["moves: left out"]);
  assert.deepEqual(Object.fromEntries(files), STORED);
});

pure("golden() shows notes only when asked to", async () => {
  const computed = { text: "old\n", notes: ["AsSpecified 3"] };
  const { lines } = await play(computed, { stored: STORED, verbose: true });
  assert.equal(lines[1], "  AsSpecified 3");
});

pure("golden() fails where a part is left out and all are required", async () => {
  const { code, lines } = await play({ leftOut: "kubectl is not installed" }, {
    stored: STORED,
    complete: true,
  });
  assert.equal(code, 1);
  assert.match(lines[0] ?? "", /MISSING/);
});

pure("golden() fails where the files are too large, and names the largest", async () => {
  const text = "x".repeat(300_000);
  const { code, lines } = await play({ text }, { stored: { "moves.jsonl": text } });
  assert.equal(code, 1);
  assert.match(lines[1] ?? "", /300000.*moves\.jsonl/);
});

function problems(found: readonly string[], impossible: Readonly<Record<string, string>> = {}) {
  return reasonCounts({ found, expected: ["Applied", "PodGone"], impossible }).problems;
}

pure("reasonCounts() finds reasons that are too rare, unless they are listed as impossible", () => {
  const applied = ["Applied", "Applied", "Applied"];
  assertMatches(problems([...applied, "PodGone"]), [/PodGone.* 1 .* 3$/]);
  assert.deepEqual(problems(applied, { PodGone: "it is gone" }), []);
  assertMatches(problems([...applied, "PodGone"], { PodGone: "it is gone" }), [
    /PodGone.*impossible/,
  ]);
});
