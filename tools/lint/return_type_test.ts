import assert from "node:assert/strict";
import { lintSource } from "./lint_source.ts";
import { returnType } from "./return_type.ts";

const refused = (source: string): boolean =>
  lintSource(returnType, { path: "shared/a.ts", source }).length === 1;

Deno.test("returnType accepts a type that is written or given by the context", () => {
  for (
    const source of [
      "function f(): void {}",
      "export const f = (): void => {};",
      "export const f: F = (a) => a;",
      "export const rule: Rule = { create() { return {}; } };",
      "export class A { constructor() {} set b(c: number) {} d(): void {} }",
      "const inner = (a: number) => a;",
    ]
  ) {
    assert.equal(refused(source), false, source);
  }
});

Deno.test("returnType refuses declarations, methods and exported arrows without one", () => {
  for (
    const source of [
      "function f() {}",
      "export async function f() {}",
      "export const f = (a: number) => a;",
      "class A { b() {} }",
      "class A { get b() { return 1; } }",
    ]
  ) {
    assert.equal(refused(source), true, source);
  }
});
