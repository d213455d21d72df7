import assert from "node:assert/strict";
import { functionLength, MAX_FUNCTION_LINES } from "./function_length.ts";
import { lintSource } from "./lint_source.ts";

const body = (lines: number): string => `{\n${"  f();\n".repeat(lines - 2)}}`;

Deno.test("functionLength accepts as many lines as the limit and no line more", () => {
  for (const head of ["function f() ", "const f = () => ", "const f = { f() "]) {
    const lint = (lines: number): string[] =>
      lintSource(functionLength, {
        path: "shared/a.ts",
        source: head + body(lines) + (head.endsWith("f() ") && head.includes("{") ? "}" : ""),
      });
    assert.deepEqual(lint(MAX_FUNCTION_LINES), []);
    assert.deepEqual(lint(MAX_FUNCTION_LINES + 1), [
      "The function has 81 lines, more than 80",
    ]);
  }
});

Deno.test("functionLength leaves tests alone", () => {
  const source = "function f() " + body(MAX_FUNCTION_LINES + 1);
  assert.deepEqual(lintSource(functionLength, { path: "shared/a_test.ts", source }), []);
});
