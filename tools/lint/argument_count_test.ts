import assert from "node:assert/strict";
import { argumentCount } from "./argument_count.ts";
import { lintSource } from "./lint_source.ts";

const inShared = (source: string): string[] =>
  lintSource(argumentCount, { path: "shared/a.ts", source });

Deno.test("argumentCount accepts two arguments and an options object", () => {
  for (
    const source of [
      "export function f(a: A, b: B) {}",
      "export function f(a: A, b: B, { c = 1 }: Options = {}) {}",
      "export function f(a: A, b: B, options: Options) {}",
      "export function f(a: A, b: B, options: Options = {}) {}",
      "export const f = (a: A, b: B) => 1;",
      "export class ApiError extends Error { constructor(a: A, b: B, c: C, d: D) { super(); } }",
      "function inner(a: A, b: B, c: C) {}",
    ]
  ) {
    assert.deepEqual(inShared(source), [], source);
  }
});

Deno.test("argumentCount refuses a third positional argument of whatever is exported", () => {
  for (
    const [source, name] of [
      ["export function f(a: A, b: B, c: C) {}", "f()"],
      ["export function f(a: A, b: B, c: C, options: Options) {}", "f()"],
      ["export const f = (a: A, b: B, c: C) => 1;", "f()"],
      ["export const f = function (a: A, b: B, c: C) {};", "f()"],
      ["export class K { g(a: A, b: B, c: C) {} }", "g()"],
      ["export class K { constructor(a: A, b: B, c: C) {} }", "constructor()"],
      ["export class KError extends Error { g(a: A, b: B, c: C) {} }", "g()"],
    ] as const
  ) {
    const [message = "", ...others] = inShared(source);
    assert.ok(message.startsWith(`${name} `), message);
    assert.match(message, / 3 .* 2$/);
    assert.deepEqual(others, [], source);
  }
});
