import assert from "node:assert/strict";
import { layers } from "./layers.ts";
import { lintSource } from "./lint_source.ts";

const imports = (path: string, specifier: string): string[] =>
  lintSource(layers, { path, source: `import { a } from "${specifier}";` });

function assertOne(messages: readonly string[], expected: RegExp): void {
  assert.equal(messages.length, 1, messages.join("\n"));
  assert.match(messages.join(), expected);
}

Deno.test("layers accepts imports that point down", () => {
  for (
    const [path, specifier] of [
      ["shared/market/solver.ts", "../quantity.ts"],
      ["adapters/kube/pods.ts", "../../shared/api/pod.ts"],
      ["agent/main.ts", "../adapters/system_clock.ts"],
      ["controller/main.ts", "../adapters/kube/pods.ts"],
      ["lab/simulation/cluster.ts", "../../agent/node_loop.ts"],
      ["lab/simulation/cluster.ts", "../../controller/allocation/enforcement.ts"],
      ["cli/demo.ts", "../lab/simulation/cluster.ts"],
      ["lab/bench/solver.ts", "../../shared/market/solver.ts"],
      ["lab/bench/reaction.ts", "../../tests/cluster/scene/until.ts"],
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
      ["shared/log.ts", "../adapters/log.ts", /^shared .* adapters$/],
      ["adapters/log.ts", "../agent/ports.ts", /^adapters .* agent$/],
      ["agent/main.ts", "../controller/main.ts", /^agent .* controller$/],
      ["controller/main.ts", "../cli/top.ts", /^controller .* cli$/],
      ["cli/top.ts", "../agent/view.ts", /^cli .* agent$/],
      ["agent/main.ts", "../lab/simulation/cluster.ts", /^agent .* lab\/simulation$/],
      ["lab/simulation/cluster.ts", "../../adapters/log.ts", /^lab\/simulation .* adapters$/],
      ["agent/main.ts", "../main.ts", /^agent .* root$/],
    ] as const
  ) {
    assertOne(imports(path, specifier), message);
  }
});

Deno.test("layers keeps features out of what they share", () => {
  const solver = imports("shared/resize/checks/pod_state.ts", "../../market/solver.ts");
  assertOne(solver, /^shared\/resize\/ .* shared\/market\/solver\.ts$/);
  const loop = imports("controller/resize/send_changes.ts", "../allocation/ports.ts");
  assertOne(loop, /^controller\/resize\/ .* controller\/allocation\/ports\.ts$/);
  assert.deepEqual(imports("shared/rightsizing/guards/method.ts", "../../resize/check.ts"), []);
});

Deno.test("layers lets a test import anything", () => {
  assert.deepEqual(imports("shared/log_test.ts", "../lab/simulation/cluster.ts"), []);
  assert.deepEqual(imports("tests/contract/pods.ts", "../../adapters/kube/pods.ts"), []);
  assert.deepEqual(imports("tests/cluster/pods.ts", "@kubernetes/client-node"), []);
});

Deno.test("layers refuses a test imported by other code", () => {
  for (
    const [path, specifier] of [
      ["lab/bench/solver.ts", "shared/market/solver_test.ts"],
      ["lab/bench/solver.ts", "tests/browser/report_test.ts"],
      ["tools/size.ts", "tests/cluster/scene/until.ts"],
    ] as const
  ) {
    assertOne(
      imports(path, "../".repeat(path.split("/").length - 1) + specifier),
      new RegExp(`^${path} .*test.* ${specifier}$`),
    );
  }
});

Deno.test("layers keeps the Kubernetes client behind adapters/kube/", () => {
  const message = /adapters\/kube\/ .*@kubernetes\/client-node$/;
  assertOne(imports("controller/main.ts", "@kubernetes/client-node"), message);
  assertOne(imports("adapters/log.ts", "@kubernetes/client-node/dist/gen"), message);
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
    assertOne(lintSource(layers, { path: "agent/a.ts", source }), /^agent .* cli$/);
  }
});
