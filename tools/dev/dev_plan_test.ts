import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { type DevInput, devPlan } from "./dev_plan.ts";

const ALL = new Set(["docker", "kind", "kubectl"]);
const KUBECTL = new Set(["kubectl"]);
const GO = { installed: ALL, kindClusters: [], follow: true };

/** What is there, and how each command of the plan begins, or what the problem names. */
const PLANS: readonly (readonly [DevInput, readonly string[] | RegExp])[] = [
  [GO, [
    "kind create cluster",
    "docker build --target agent --tag mbcas-agent:dev",
    "docker build --target controller",
    "kind load docker-image --name coallocator mbcas-agent:dev mbcas-controller:dev",
    "kubectl --context kind-coallocator apply -k manifests/overlays/kind",
    ...Array(4).fill("kubectl --context kind-coallocator --namespace mbcas-system "),
  ]],
  // The Kind cluster that KUBECONFIG names is taken; without --follow the rollout is the end.
  [{ ...GO, context: "kind-mine", kindClusters: ["mine"], follow: false }, [
    "docker build",
    "docker build",
    "kind load docker-image --name mine",
    "kubectl --context kind-mine apply",
    "kubectl --context kind-mine --namespace mbcas-system rollout restart",
    "kubectl --context kind-mine --namespace mbcas-system rollout status daemonset/mbcas-agent",
    "kubectl --context kind-mine --namespace mbcas-system rollout status deployment/mbcas-contro",
  ]],
  // The harness's node needs neither Docker nor Kind.
  [{ ...GO, installed: KUBECTL, harness: "coallocator", context: "default", follow: false }, [
    "deno task image:local --load",
    "kubectl apply -k manifests/overlays/kind",
    ...Array(3).fill("kubectl --namespace mbcas-system rollout "),
  ]],
  [{ ...GO, installed: KUBECTL }, /docker .*install .*; kind /],
  [{ ...GO, dockerRuns: false }, /daemon does not answer; start it/],
  [{ ...GO, context: "production" }, / production .*Kind/],
  [
    { ...GO, installed: KUBECTL, context: "staging", useInstalled: true },
    Array(2).fill("kubectl --context staging --namespace mbcas-system rollout status "),
  ],
];

pure("devPlan() goes from what is there to commands, or says what is missing", () => {
  for (const [found, expected] of PLANS) {
    const plan = devPlan(found);
    if (expected instanceof RegExp) {
      assert.match("problem" in plan ? plan.problem : "", expected);
      continue;
    }
    const steps = "steps" in plan ? plan.steps.map(({ command }) => command.join(" ")) : [];
    assert.deepEqual(steps.map((step, at) => step.slice(0, expected[at]?.length)), expected);
  }
});
