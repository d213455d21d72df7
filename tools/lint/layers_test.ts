import assert from "node:assert/strict";
import { layers } from "./layers.ts";
import { lintSource } from "./lint_source.ts";

const imports = (path: string, specifier: string): string[] =>
  lintSource(layers, { path, source: `import { a } from "${specifier}";` });

Deno.test("layers accepts imports that point down", () => {
  for (
    const [path, specifier] of [
      ["shared/market/solver.ts", "../quantity.ts"],
      ["adapters/kube/pods.ts", "../../shared/api/pod.ts"],
      ["agent/main.ts", "../adapters/system_clock.ts"],
      ["controller/main.ts", "../adapters/kube/pods.ts"],
      ["simulation/cluster.ts", "../agent/node_loop.ts"],
      ["simulation/cluster.ts", "../controller/allocation/enforcement.ts"],
      ["cli/demo.ts", "../simulation/cluster.ts"],
      ["bench/solver.ts", "../shared/market/solver.ts"],
      ["bench/reaction.ts", "../tests/cluster/scene/until.ts"],
      ["shared/log.ts", "zod"],
      ["adapters/kube/pods.ts", "@kubernetes/client-node"],
    ] as const
  ) {
    assert.deepEqual(imports(path, specifier), [], `${path} -> ${specifier}`);
  }
});

Deno.test("layers refuses imports that point up or across", () => {
  for (
    const [path, specifier, message] of [
      ["shared/log.ts", "../adapters/log.ts", "shared may not import adapters"],
      ["adapters/log.ts", "../agent/ports.ts", "adapters may not import agent"],
      ["agent/main.ts", "../controller/main.ts", "agent may not import controller"],
      ["controller/main.ts", "../cli/top.ts", "controller may not import cli"],
      ["cli/top.ts", "../agent/view.ts", "cli may not import agent"],
      ["agent/main.ts", "../simulation/cluster.ts", "agent may not import simulation"],
      ["simulation/cluster.ts", "../adapters/log.ts", "simulation may not import adapters"],
      ["agent/main.ts", "../main.ts", "agent may not import the root"],
    ] as const
  ) {
    assert.deepEqual(imports(path, specifier), [message]);
  }
});

Deno.test("layers lets a test import anything", () => {
  assert.deepEqual(imports("shared/log_test.ts", "../simulation/cluster.ts"), []);
  assert.deepEqual(imports("tests/contract/pods.ts", "../../adapters/kube/pods.ts"), []);
  assert.deepEqual(imports("tests/cluster/pods.ts", "@kubernetes/client-node"), []);
});

Deno.test("layers refuses a test imported by other code", () => {
  assert.deepEqual(imports("bench/solver.ts", "../shared/market/solver_test.ts"), [
    "bench/solver.ts imports the test file shared/market/solver_test.ts",
  ]);
  assert.deepEqual(imports("bench/solver.ts", "../tests/browser/report_test.ts"), [
    "bench/solver.ts imports the test file tests/browser/report_test.ts",
  ]);
  assert.deepEqual(imports("tools/size.ts", "../tests/cluster/scene/until.ts"), [
    "tools/size.ts imports the test file tests/cluster/scene/until.ts",
  ]);
});

Deno.test("layers keeps the Kubernetes client behind adapters/kube/", () => {
  const message = "Only adapters/kube/ imports @kubernetes/client-node";
  assert.deepEqual(imports("controller/main.ts", "@kubernetes/client-node"), [message]);
  assert.deepEqual(imports("adapters/log.ts", "@kubernetes/client-node/dist/gen"), [message]);
});

Deno.test("layers sees dynamic imports, re-exports and imported types", () => {
  for (
    const source of [
      'await import("../cli/top.ts");',
      'export * from "../cli/top.ts";',
      'export { a } from "../cli/top.ts";',
      'type A = import("../cli/top.ts").A;',
    ]
  ) {
    const messages = lintSource(layers, { path: "agent/a.ts", source });
    assert.deepEqual(messages, ["agent may not import cli"], source);
  }
});
