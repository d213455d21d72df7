import assert from "node:assert/strict";
import { featureImports, folderGraph, importGraph, onCycles } from "./import_graph.ts";
import { MAX_FILES, structureFaults } from "./structure_faults.ts";
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
    "shared/big",
    "a/c.ts",
    "shared/market",
    "shared/placement",
    "shared/resize",
    "shared/market/d.ts",
    "shared/placement/e.ts",
    "shared/resize/g.ts",
    "controller/resize/i.ts",
    "a/b.ts",
    "a/c.ts",
  ]);
});
