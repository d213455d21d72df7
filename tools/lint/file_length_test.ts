import assert from "node:assert/strict";
import { fileLength, MAX_LINES } from "./file_length.ts";
import { lintSource } from "./lint_source.ts";

Deno.test("fileLength accepts as many lines as the limit and no line more", () => {
  const lines = (count: number): string[] =>
    lintSource(fileLength, { path: "shared/a.ts", source: "f();\n".repeat(count) });
  assert.deepEqual(lines(MAX_LINES), []);
  assert.deepEqual(lines(MAX_LINES + 1), ["The file has 401 lines, more than 400"]);
});

Deno.test("fileLength holds for tests too", () => {
  const source = "f();\n".repeat(MAX_LINES + 1);
  assert.equal(lintSource(fileLength, { path: "shared/a_test.ts", source }).length, 1);
});
