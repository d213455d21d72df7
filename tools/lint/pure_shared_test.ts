import assert from "node:assert/strict";
import { lintSource } from "./lint_source.ts";
import { pureShared } from "./pure_shared.ts";

const inShared = (source: string): string[] =>
  lintSource(pureShared, { path: "shared/a.ts", source });

Deno.test("pureShared refuses the host, time and chance", () => {
  for (
    const [source, name] of [
      ["Deno.cwd();", "Deno"],
      ["const d = { Deno };", "Deno"],
      ["fetch(url);", "fetch"],
      ["console.log(1);", "console"],
      ["process.exit();", "process"],
      ["globalThis.fetch(url);", "globalThis"],
      ["performance.now();", "performance"],
      ["setTimeout(f, 1);", "setTimeout"],
      ["setInterval(f, 1);", "setInterval"],
      ["queueMicrotask(f);", "queueMicrotask"],
      ["Date.now();", "Date.now"],
      ["new Date();", "new Date()"],
      ["Date();", "Date()"],
      ["const now = Date.now;", "Date.now"],
      ["Math.random();", "Math.random"],
      ["crypto.randomUUID();", "crypto.randomUUID"],
      ["crypto.getRandomValues(a);", "crypto.getRandomValues"],
      ["AbortSignal.timeout(5);", "AbortSignal.timeout"],
    ] as const
  ) {
    const [message = "", ...others] = inShared(source);
    assert.ok(message.startsWith("shared/ ") && message.endsWith(` use ${name}`), message);
    assert.deepEqual(others, [], source);
  }
});

Deno.test("pureShared refuses node: modules", () => {
  const messages = inShared('import { join } from "node:path";');
  assert.equal(messages.length, 1);
  assert.match(messages.join(), /^shared\/ .*import node:path$/);
});

Deno.test("pureShared accepts names that only look alike", () => {
  for (
    const source of [
      "client.fetch(url);",
      "const ports = { fetch: 1, console: 2 };",
      "interface Port { fetch(url: string): void; console: string }",
      "new Date(clock.wall()).toISOString();",
      "Math.floor(1.5);",
      'import { fetch as load } from "./load.ts";',
    ]
  ) {
    assert.deepEqual(inShared(source), [], source);
  }
});

Deno.test("pureShared leaves tests and other folders alone", () => {
  for (const path of ["shared/a_test.ts", "adapters/a.ts"]) {
    assert.deepEqual(lintSource(pureShared, { path, source: "Deno.cwd();" }), []);
  }
});
