import assert from "node:assert/strict";
import { injectedWorld } from "./injected_world.ts";
import { lintSource } from "./lint_source.ts";

Deno.test("injectedWorld refuses time, chance and console in loops that are simulated", () => {
  for (const area of ["agent", "controller", "lab/simulation", "lab/arena"]) {
    for (const use of ["Date.now", "Math.random", "console", "setTimeout"]) {
      const messages = lintSource(injectedWorld, { path: `${area}/a.ts`, source: `f(${use});` });
      assert.equal(messages.length, 1);
      assert.match(messages.join(), new RegExp(`^${area}/ .* ${use}$`));
    }
  }
});

Deno.test("injectedWorld leaves entries, tests, adapters and command line alone", () => {
  for (const path of ["agent/main.ts", "agent/a_test.ts", "adapters/system_clock.ts", "cli/a.ts"]) {
    assert.deepEqual(lintSource(injectedWorld, { path, source: "f(Date.now());" }), [], path);
  }
});
