import assert from "node:assert/strict";
import { EVERY_WORKLOAD } from "../../shared/api/workload.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { serveCanned } from "../../tests/fixtures/canned_server.ts";
import {
  parseVerticalPodAutoscaler,
  verticalPodAutoscalerListWatch,
} from "./vertical_pod_autoscalers.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const metadata = { name: "web", namespace: "shop", uid: "u", resourceVersion: "7" };
const targetRef = { apiVersion: "apps/v1", kind: "StatefulSet", name: "web" };
const OFF = { metadata, spec: { targetRef, updatePolicy: { updateMode: "Off" } } };

pure("parseVerticalPodAutoscaler() keeps target and mode", () => {
  assert.deepEqual(parseVerticalPodAutoscaler(OFF), {
    metadata,
    target: { kind: "StatefulSet", name: "web" },
    updateMode: "Off",
  });
});

pure("parseVerticalPodAutoscaler() knows this product's own one by both of its marks", () => {
  const labels = { "app.kubernetes.io/managed-by": "mbcas-controller" };
  const recommenders = [{ name: "optipod" }];
  const published = (marks: object, spec: object): unknown =>
    parseVerticalPodAutoscaler({
      metadata: { ...metadata, ...marks },
      spec: { ...OFF.spec, ...spec },
    }).published;
  assert.equal(published({ labels }, { recommenders }), true);
  for (const marks of [{}, { labels: { "app.kubernetes.io/managed-by": "helm" } }]) {
    assert.equal(published(marks, { recommenders }), undefined);
  }
  for (const spec of [{}, { recommenders: [{ name: "default" }] }, { recommenders: "optipod" }]) {
    assert.equal(published({ labels }, spec), undefined);
  }
});

pure("parseVerticalPodAutoscaler() takes one without a mode for one that acts", () => {
  for (const updatePolicy of [undefined, null, {}, { minReplicas: 1 }, { updateMode: "" }]) {
    const { updateMode } = parseVerticalPodAutoscaler({
      metadata,
      spec: { targetRef, updatePolicy },
    });
    assert.notEqual(updateMode, "Off");
  }
});

pure("parseVerticalPodAutoscaler() keeps of which containers it sets the CPU", () => {
  const controlled = (policy: unknown, more = {}) =>
    parseVerticalPodAutoscaler({
      metadata,
      spec: { targetRef, resourcePolicy: { containerPolicies: [policy] }, ...more },
    }).cpuPolicies;
  const app = (is: boolean) => [{ container: "app", controlled: is }];
  const containerName = "app";
  assert.deepEqual(controlled({ containerName }), app(true));
  assert.deepEqual(controlled({ containerName, mode: "Auto" }), app(true));
  assert.deepEqual(controlled({ containerName, mode: "Off" }), app(false));
  const memory = { containerName, controlledResources: ["memory"] };
  assert.deepEqual(controlled(memory), app(false));
  assert.deepEqual(controlled({ ...memory, controlledResources: [] }), app(false));
  assert.deepEqual(controlled({ ...memory, controlledResources: ["memory", "cpu"] }), app(true));
  assert.deepEqual(controlled({ containerName: "*", mode: "Off" }), [
    { container: "*", controlled: false },
  ]);
  // A boost at the start is of CPU.
  const startupBoost = { cpu: { type: "Factor", factor: 2 } };
  assert.deepEqual(controlled({ ...memory, startupBoost }), app(true));
  assert.deepEqual(controlled(memory, { startupBoost }), app(true));
});

pure("parseVerticalPodAutoscaler() excuses no container by what it can't read", () => {
  for (const containerPolicies of [null, [null], [{ mode: "Off" }]]) {
    const { cpuPolicies, updateMode, unreadable } = parseVerticalPodAutoscaler({
      metadata,
      spec: { targetRef, resourcePolicy: { containerPolicies } },
    });
    assert.deepEqual([cpuPolicies, updateMode, unreadable], [undefined, "Auto", undefined]);
  }
});

pure("parseVerticalPodAutoscaler() keeps one that can't be read, and leaves nobody to it", () => {
  const policies = (containerPolicies: unknown) => ({ resourcePolicy: { containerPolicies } });
  for (
    const [odd, why] of [
      [{ updatePolicy: { updateMode: 5 } }, /updateMode is/],
      [{ updatePolicy: "Off" }, /updatePolicy is/],
      [{ resourcePolicy: "none" }, /resourcePolicy is/],
      [policies("app"), /containerPolicies is/],
      [policies([["app"]]), /policy is/],
      [policies([{ containerName: "a", controlledResources: "memory" }]), /controlledResources is/],
    ] as const
  ) {
    const { unreadable = "", ...rest } = parseVerticalPodAutoscaler({
      metadata,
      spec: { targetRef, ...odd },
    });
    assert.match(unreadable, why);
    assert.match(unreadable, /^Cannot read /);
    assert.deepEqual(rest, {
      metadata,
      target: { kind: "StatefulSet", name: "web" },
      updateMode: "Off",
    });
  }
});

pure("parseVerticalPodAutoscaler() takes one without a target for one of every workload", () => {
  for (const odd of [{ targetRef: {} }, { targetRef: { kind: "Deployment" } }, {}]) {
    const { target, unreadable = "" } = parseVerticalPodAutoscaler({ metadata, spec: odd });
    assert.deepEqual(target, EVERY_WORKLOAD);
    assert.match(unreadable, /spec\.targetRef\.(kind|name)$/);
  }
  const off = { updatePolicy: { updateMode: "Off" } };
  // It does nothing, to whomever.
  assert.equal(parseVerticalPodAutoscaler({ metadata, spec: off }).unreadable, undefined);
  assert.throws(() => parseVerticalPodAutoscaler({}), { message: /metadata\.name/ });
});

Deno.test("verticalPodAutoscalerListWatch() is empty where the kind is not known", async () => {
  let known = false;
  await using server = serveCanned(() =>
    known
      ? { metadata: { resourceVersion: "9" }, items: [OFF, {}] }
      : Response.json({ message: "404 page not found" }, { status: 404 })
  );
  const clock = createVirtualClock({ wallStart: 0 });
  const source = verticalPodAutoscalerListWatch(server.connection, { clock });
  const { signal } = new AbortController();
  assert.deepEqual((await source.list(signal)).items, []);
  known = true;
  const { items } = await source.list(signal);
  assert.deepEqual(items.map(({ updateMode }) => updateMode), ["Off"]);
  assert.equal(server.requests[0]?.path, "/apis/autoscaling.k8s.io/v1/verticalpodautoscalers");
});
