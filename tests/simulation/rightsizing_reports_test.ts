/** Numbered properties of what rightsizing asks and reports, over random worlds in virtual time. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { ApiError } from "../../shared/api/api_error.ts";
import { remedyFor } from "../../shared/api/reasons/reasons.ts";
import { MI } from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import type { PolicyChoice, RightsizingScene } from "../fixtures/rightsizing/rightsizing_scene.ts";
import {
  freeContainers,
  inWorld,
  ownContainers,
  workloadsOf,
  worldProperty,
} from "../fixtures/rightsizing/rightsizing_worlds.ts";

const MINUTE_MS = 60_000;

/** Nothing is in the way of a change of these. */
const freeWorkloads = workloadsOf(freeContainers);

/** A class of failures: how it is brought about, and how it is reported. */
interface FailureClass {
  readonly event: string;
  /** The reason with the remedy that ends the message. */
  readonly expected: string;
  readonly policy?: PolicyChoice;
  readonly begin?: (scene: RightsizingScene) => void;
  /** The policy alone receives it. */
  readonly ofPolicy?: true;
}

const RBAC_MESSAGE = 'deployments.apps "x" is forbidden: User "u" cannot patch resource ' +
  '"deployments" in API group "apps" in the namespace "shop"';
const RECREATE: PolicyChoice = { strategy: { allowInPlaceResize: false, allowRecreate: true } };

const refusing = (error: ApiError) => (scene: RightsizingScene): void => {
  for (const name of ["web", "db", "job"]) scene.refusals.set(name, error);
};

const FAILURES: readonly FailureClass[] = [
  {
    event: "MetricsCollectionFailed",
    expected: "ProviderUnavailable",
    begin: ({ source }) => void (source.problem = { problem: "unreachable", message: "refused" }),
  },
  {
    event: "MetricsCollectionFailed",
    expected: "MetricsMissing",
    begin: ({ source }) => void (source.problem = { problem: "unreadable", message: "no JSON" }),
  },
  {
    event: "RBACError",
    expected: "RBACError",
    policy: RECREATE,
    begin: refusing(new ApiError(403, "Forbidden", RBAC_MESSAGE)),
  },
  {
    event: "UpdateFailed",
    expected: "AdmissionDenied",
    policy: RECREATE,
    begin: refusing(
      new ApiError(403, "", 'admission webhook "kyverno.svc" denied the request: no'),
    ),
  },
  {
    event: "UpdateFailed",
    expected: "ServerBusy",
    policy: RECREATE,
    begin: refusing(new ApiError(500, "InternalError", "etcd is gone")),
  },
  {
    event: "UpdateFailed",
    expected: "Refused",
    policy: RECREATE,
    begin: refusing(new ApiError(422, "Invalid", "spec.template: Invalid value")),
  },
  {
    event: "UpdateFailed",
    expected: "EvaluationFailed",
    begin: ({ source }) => void (source.usage = () => Promise.reject(new TypeError("Cannot add"))),
  },
  {
    event: "DiscoveryFailed",
    expected: "UnreadableTemplate",
    begin: ({ api: { store: { tables: { Deployment } } } }) => {
      for (const { metadata } of Deployment.all()) {
        Deployment.modify(
          `${metadata.namespace}/${metadata.name}`,
          ({ makes: _makes, ...rest }) => ({
            ...rest,
            unreadableTemplate: "Cannot read a template: it has no containers",
          }),
        );
      }
    },
  },
  {
    event: "InPlaceResizeUnavailable",
    expected: "InPlaceResizeUnavailable",
    begin: ({ served }) => void (served.resizeServed = false),
  },
  {
    event: "WorkloadSkipped",
    expected: "MethodNotAllowed",
    policy: { strategy: { allowInPlaceResize: false, allowRecreate: false } },
  },
  { event: "WorkloadSkipped", expected: "InsufficientSamples", policy: { minSamples: 1000 } },
  {
    event: "UnsafeMemoryDecrease",
    expected: "UnsafeMemoryDecrease",
    // Everything is lowered to a bound below its peak.
    policy: { bounds: { cpu: { min: 10, max: 4000 }, memory: { min: MI, max: 2 * MI } } },
  },
  {
    event: "ValidationFailed",
    expected: "ValidationFailed",
    ofPolicy: true,
    begin: ({ api }) =>
      void api.store.tables.OptimizationPolicy.modify("shop/all", ({ spec: _spec, ...policy }) => ({
        ...policy,
        faults: [{ field: "spec.weight", value: "0", valid: "1 to 1000" }],
      })),
  },
];

worldProperty(
  "property 26: each class of failures is reported once, with a suggestion, on the workload and on its policy",
  [freeWorkloads, fc.constantFrom(...FAILURES), fc.nat(20 * MINUTE_MS)],
  (workloads, { event, expected, policy, begin, ofPolicy }, restartAtMs) => {
    const all = workloads.map((one) => ({
      ...one,
      pods: 1,
      containers: one.containers.map((container) => ({
        ...container,
        requests: { ...container.requests, memory: 400 * MI },
      })),
      // Far from what is requested, and above the lowest bound.
      usage: { cpu: 3000, memory: 100 * MI },
    }));
    return inWorld(all, async (scene) => {
      scene.policy("all", { ...policy, mode: "Auto" });
      begin?.(scene);
      await scene.run(Math.max(1000, restartAtMs));
      // Without a restart of what is reported when it begins: a fault of a policy is reported by each
      // process.
      if (!ofPolicy) await scene.restart();
      await scene.run(20 * MINUTE_MS);
      const reported = scene.events.filter(({ reason }) => reason === event);
      for (const { message, type } of reported) {
        assert.ok(message.includes(`${expected}: `), message);
        assert.ok(message.endsWith(`; ${remedyFor(expected)}`), message);
        assert.equal(type, expected === "InsufficientSamples" ? "Normal" : "Warning");
      }
      const { Deployment, OptimizationPolicy } = scene.api.store.tables;
      const uids = reported.filter(({ about }) => about.kind === "Deployment").map((one) =>
        one.about.uid
      );
      assert.deepEqual(
        uids.toSorted(),
        ofPolicy ? [] : Deployment.all().map(({ metadata }) => metadata.uid).toSorted(),
      );
      const ofPolicies = reported.filter(({ about }) => about.kind === "OptimizationPolicy");
      assert.deepEqual(
        [...new Set(ofPolicies.map(({ about }) => about.uid))],
        OptimizationPolicy.all().map(({ metadata }) => metadata.uid),
      );
      assert.equal(ofPolicies.length, 1);
    });
  },
);

/** Pods of each workload. */
const PODS = 3;

worldProperty(
  "property 28: after a 403 at one of several pods no other is tried in the cycle, what was done is in force, and the others go on",
  [workloadsOf(freeContainers), fc.nat(2), fc.nat(PODS - 1)],
  (workloads, index, at) => {
    const usage = { cpu: 3000, memory: 800 * MI };
    const all = workloads.map((one) => ({ ...one, pods: PODS, usage }));
    const denied = all[index % all.length] ?? assert.fail("no workload");
    const name = `${denied.name}-${at}`;
    return inWorld(all, async (scene) => {
      const message = `pods "${name}" is forbidden: User "u" cannot patch resource ` +
        '"pods/resize" in API group "" in the namespace "shop"';
      scene.refusals.set(name, new ApiError(403, "Forbidden", message));
      const before = scene.podsOf(denied.name);
      const requestsOf = (workload: string): number[][] =>
        scene.podsOf(workload).map(({ containers }) =>
          containers.filter((one) => !one.sidecar).map(({ requests: { cpu: requestCPU = 0 } }) =>
            requestCPU
          )
        );
      scene.policy("all", { intervalMs: 60 * MINUTE_MS });
      await scene.run(50 * MINUTE_MS);
      const tried = scene.resizes.filter((pod) => pod.startsWith(`${denied.name}-`));
      assert.deepEqual(tried, Array.from({ length: at + 1 }, (_, pod) => `${denied.name}-${pod}`));
      const { status, reason, message: reported, inForce = [], recommendations = [] } =
        scene.recordOf(denied.name) ?? {};
      assert.deepEqual([status, reason], ["Error", "RBACError"]);
      assert.match(reported ?? "", new RegExp(`${name}: missing: patch pods/resize .*shop$`));
      const wanted = recommendations.map(({ cpu }) => cpu);
      assert.equal(wanted.length, ownContainers(denied).length);
      assert.deepEqual(requestsOf(denied.name).slice(0, at), Array(at).fill(wanted));
      // The one that was refused and those behind it are untouched.
      assert.deepEqual(scene.podsOf(denied.name).slice(at), before.slice(at));
      assert.deepEqual(inForce.map(({ cpu }) => cpu), at === 0 ? [] : wanted);
      const others = all.filter((one) => one !== denied);
      for (const other of others) {
        assert.equal(scene.recordOf(other.name)?.status, "Applied");
        const due = scene.recordOf(other.name)?.recommendations.map(({ cpu }) => cpu);
        assert.deepEqual(requestsOf(other.name), Array(PODS).fill(due));
      }
      scene.refusals.clear();
      await scene.run(60 * MINUTE_MS);
      assert.deepEqual(requestsOf(denied.name), Array(PODS).fill(wanted));
      assert.equal(scene.recordOf(denied.name)?.status, "Applied");
    });
  },
);
