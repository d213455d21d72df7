import assert from "node:assert/strict";
import { featureImports, folderGraph, importGraph, onCycles } from "./import_graph.ts";
import { growth, MAX_FILES, measureStructure, totalGrowth } from "./measures.ts";
import { privateWords } from "./vocabulary.ts";

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
  const between = new Map([["a", ["b"]], ["b", ["a", "c"]], ["c", ["d"]], ["d", ["e"]], ["e", [
    "d",
  ]]]);
  assert.deepEqual(onCycles(between), ["a", "b", "d", "e"]);
});

Deno.test("featureImports() counts imports between features, by file", () => {
  assert.deepEqual([...featureImports(graph)], [
    ["shared/market/a.ts", 1],
    ["shared/placement/c.ts", 1],
  ]);
});

Deno.test("privateWords() reads identifiers word by word, and names the line", () => {
  assert.deepEqual(
    privateWords("const x = 1;\nconst podWishes = keep_house(); // forward, towards").map(
      ({ word, line }) => `${word}:${line}`,
    ),
    ["wishes:2", "keep house:2"],
  );
});

Deno.test("measureStructure() counts by folder", () => {
  const files = Array.from({ length: MAX_FILES + 2 }, (_, i) => `shared/big/f${i}.ts`);
  const counts = measureStructure(
    new Map([
      ...files.map((path): [string, string] => [path, ""]),
      ["shared/big/f1_test.ts", "// nobody"],
      ["a/b.ts", "// deno-lint-ignore house/function-length\nfunction f() {}\n"],
      ["a/c.ts", 'x();\n// deno-lint-ignore house/function-length\nimport("./c.ts");\n'],
    ]),
  );
  assert.deepEqual(counts, {
    folderSize: { "shared/big": 2 },
    fileCycles: { a: 1 },
    folderCycles: {},
    featureImports: {},
    longFunctions: { a: 2 },
    privateWords: { "shared/big": 1 },
  });
  assert.deepEqual(growth(counts, { ...counts, longFunctions: { a: 1, b: 3 } }).length, 1);
  assert.deepEqual(totalGrowth(counts, { ...counts, longFunctions: { a: 1, b: 3 } }), []);
  assert.deepEqual(totalGrowth(counts, { ...counts, longFunctions: { a: 1 } }).length, 1);
});
