import assert from "node:assert/strict";
import { type DevInput, devPlan } from "./dev_plan.ts";

const all = new Set(["docker", "kind", "kubectl"]);
const follow = true;

function commands(found: DevInput): string[] {
  const plan = devPlan(found);
  assert.ok("steps" in plan, JSON.stringify(plan));
  return plan.steps.map(({ command }) => command.join(" "));
}

Deno.test({
  name: "devPlan() makes a cluster, builds, loads, deploys and follows",
  permissions: "none",
  fn() {
    const args = commands({ installed: all, kindClusters: [], follow })
      .map((command) => command.split(" ").slice(0, 3).join(" "));
    assert.deepEqual(args, [
      "kind create cluster",
      "docker build --target",
      "docker build --target",
      "kind load docker-image",
      ...Array(5).fill("kubectl --context kind-coallocator"),
    ]);
  },
});

Deno.test({
  name: "devPlan() takes the Kind cluster that KUBECONFIG names",
  permissions: "none",
  fn() {
    const args = commands({
      installed: all,
      context: "kind-mine",
      kindClusters: ["mine"],
      follow,
    });
    assert.ok(!args.some((command) => command.includes("create")));
    assert.ok(args.includes(
      "kind load docker-image --name mine mbcas-agent:dev mbcas-controller:dev",
    ));
    assert.ok(args.includes("kubectl --context kind-mine apply -k manifests/overlays/kind"));
  },
});

Deno.test({
  name: "devPlan() needs neither Docker nor Kind on the harness's node",
  permissions: "none",
  fn() {
    const [load, apply] = commands({
      installed: new Set(["kubectl"]),
      harness: "coallocator",
      context: "default",
      kindClusters: [],
      follow,
    });
    assert.equal(load, "deno task image:local --load");
    assert.equal(apply, "kubectl apply -k manifests/overlays/kind");
  },
});

Deno.test({
  name: "devPlan() names what is missing and the remedy",
  permissions: "none",
  fn() {
    const plan = devPlan({ installed: new Set(["kubectl"]), kindClusters: [], follow });
    assert.ok("problem" in plan);
    assert.match(plan.problem, /docker .*install .*; kind /);
  },
});

Deno.test({
  name: "devPlan() does not touch a cluster that it can't load images into",
  permissions: "none",
  fn() {
    const plan = devPlan({ installed: all, context: "production", kindClusters: [], follow });
    assert.ok("problem" in plan);
    assert.match(plan.problem, / production .*Kind/);
  },
});

Deno.test({
  name: "devPlan() ends after the rollout without --follow",
  permissions: "none",
  fn() {
    const args = commands({ installed: all, kindClusters: [], follow: false });
    assert.match(args.at(-1) ?? "", /rollout status deployment\/mbcas-controller/);
  },
});

Deno.test({
  name: "devPlan() waits for what is installed on another cluster when asked to use that",
  permissions: "none",
  fn() {
    const args = commands({
      installed: new Set(["kubectl"]),
      context: "staging",
      kindClusters: [],
      follow: false,
      useInstalled: true,
    });
    assert.equal(args.length, 2);
    for (const command of args) {
      assert.match(command, /^kubectl --context staging .* rollout status /);
    }
  },
});
