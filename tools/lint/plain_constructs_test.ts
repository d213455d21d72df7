import assert from "node:assert/strict";
import { lintSource } from "./lint_source.ts";
import {
  noBlindAssertion,
  noDefaultExport,
  noEnum,
  noInheritance,
  noModuleState,
  noPrivateKeyword,
  noReexport,
} from "./plain_constructs.ts";

const inShared = (rule: Deno.lint.Rule, source: string): string[] =>
  lintSource(rule, { path: "shared/a.ts", source });

Deno.test("noEnum refuses enums", () => {
  assert.deepEqual(inShared(noEnum, "export enum Mode { On }"), ["No enums"]);
  assert.deepEqual(inShared(noEnum, 'export type Mode = "on" | "off";'), []);
});

Deno.test("noDefaultExport refuses default exports but the plugin's", () => {
  const source = "export default 1;";
  assert.deepEqual(inShared(noDefaultExport, source), ["No default exports"]);
  assert.deepEqual(lintSource(noDefaultExport, { path: "tools/lint/plugin.ts", source }), []);
});

Deno.test("noReexport refuses barrels and accepts own exports", () => {
  assert.deepEqual(inShared(noReexport, 'export * from "./b.ts";'), ["No re-exports"]);
  assert.deepEqual(inShared(noReexport, 'export { b } from "./b.ts";'), ["No re-exports"]);
  assert.deepEqual(inShared(noReexport, "const b = 1; export { b };"), []);
});

Deno.test("noPrivateKeyword refuses private and protected members and parameter properties", () => {
  for (
    const [member, keyword] of [
      ["private a = 1;", "private"],
      ["protected a() {}", "protected"],
    ] as const
  ) {
    const messages = inShared(noPrivateKeyword, `class A { ${member} }`);
    assert.deepEqual(messages, [`No ${keyword} keyword`], member);
  }
  assert.deepEqual(inShared(noPrivateKeyword, "class A { constructor(readonly a: number) {} }"), [
    "No parameter properties",
  ]);
  assert.deepEqual(inShared(noPrivateKeyword, "class A { #a = 1; b() {} }"), []);
});

Deno.test("noInheritance refuses superclasses other than errors", () => {
  assert.deepEqual(inShared(noInheritance, "class A extends B {}"), ["No class inheritance"]);
  assert.deepEqual(inShared(noInheritance, "class A extends B.C {}"), ["No class inheritance"]);
  assert.deepEqual(inShared(noInheritance, "class ApiError extends Error {}"), []);
  assert.deepEqual(inShared(noInheritance, "class A implements B {}"), []);
});

Deno.test("noModuleState refuses let at the top and accepts it inside", () => {
  assert.deepEqual(inShared(noModuleState, "let a = 1;"), ["No module-level let"]);
  assert.deepEqual(inShared(noModuleState, "export let a = 1;"), ["No module-level let"]);
  assert.deepEqual(inShared(noModuleState, "const a = 1; function f() { let b = 2; }"), []);
});

Deno.test("noBlindAssertion accepts ! on an indexed element only, and anywhere in tests", () => {
  assert.deepEqual(inShared(noBlindAssertion, "f(a.b!);"), ["No non-null assertion"]);
  assert.deepEqual(inShared(noBlindAssertion, "f(a!.b);"), ["No non-null assertion"]);
  assert.deepEqual(inShared(noBlindAssertion, "f(a[i]!);"), []);
  assert.deepEqual(lintSource(noBlindAssertion, { path: "shared/a_test.ts", source: "a!;" }), []);
});
