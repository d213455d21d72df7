/** Failures of servers, sources and processes while rightsizing runs: what is lost, tried again and reported. */
import assert from "node:assert/strict";
import { bareContainer, MI } from "../fixtures/rightsizing/rightsizing_snapshot.ts";
import {
  type PolicyChoice,
  type RightsizingScene,
  sceneTest as test,
} from "../fixtures/rightsizing/rightsizing_scene.ts";
import fc from "fast-check";
import { ApiError } from "../../shared/api/api_error.ts";
import { remedyFor } from "../../shared/api/reasons/reasons.ts";
import {
  freeContainers,
  inWorld,
  workloadsOf,
  worldProperty,
} from "../fixtures/rightsizing/rightsizing_worlds.ts";

const MINUTE_MS = 60_000;

/** A Deployment that uses more than it requests. */
function busyDeployment(scene: RightsizingScene, name = "web", pods = 2): void {
  scene.deployment(name, { pods });
  scene.uses(name, { cpu: 150, memory: 80 * MI });
}

const reportsOf = (scene: RightsizingScene, expected: string): number =>
  scene.events.filter(({ reason, about }) => reason === expected && about.kind === "Deployment")
    .length;

test("runRightsizingLoop() loses nothing of a cycle with a status that can't be written", async (scene) => {
  busyDeployment(scene);
  scene.api.failNext({ verb: "updateStatus", kind: "OptimizationPolicy", status: 500, times: 3 });
  scene.policy("all");
  await scene.run(500);
  assert.equal(scene.statusOf("all").workloads, undefined);
  assert.equal(scene.recordOf("web")?.status, "Applied");
  assert.equal(reportsOf(scene, "OptimizationApplied"), 1);
  await scene.run(MINUTE_MS);
  assert.equal(scene.statusOf("all").workloads?.[0]?.status, "Applied");
  assert.equal(reportsOf(scene, "OptimizationApplied"), 1);
  // Nothing was looked at again for it.
  assert.equal(scene.source.asked.length, 1);
});

for (
  const kind of [
    ...["LimitRange", "ResourceQuota", "Node"] as const,
    ...["HorizontalPodAutoscaler", "VerticalPodAutoscaler"] as const,
  ]
) {
  test(`runRightsizingLoop() evaluates nothing before it has its copies of each ${kind}`, async (scene) => {
    busyDeployment(scene);
    scene.policy("all");
    scene.api.failNext({ verb: "list", kind, status: 500, times: 6 });
    await scene.run(20_000);
    assert.equal(scene.source.asked.length, 0);
    await scene.run(5 * MINUTE_MS);
    assert.equal(scene.recordOf("web")?.status, "Applied");
  });
}

test("runRightsizingLoop() does not leave until the next cycle what fails for a while", async (scene) => {
  busyDeployment(scene, "web", 1);
  scene.api.failNext({ verb: "resize", kind: "Pod", status: 503, times: 3 });
  scene.policy("all", { intervalMs: 24 * 60 * MINUTE_MS });
  await scene.run(500);
  const { status, reason } = scene.recordOf("web") ?? {};
  assert.deepEqual([status, reason], ["Error", "ServerBusy"]);
  await scene.run(5 * MINUTE_MS);
  assert.equal(scene.recordOf("web")?.status, "Applied");
  assert.equal(scene.api.requests.get("resize Pod"), 4);
  assert.equal(reportsOf(scene, "UpdateFailed"), 1);
});

test("runRightsizingLoop() goes on with the others while a source hangs on some, and reports those", async (scene) => {
  const { source } = scene;
  const stuck = Array.from({ length: 3 }, (_, index) => `stuck${index}`);
  for (const name of stuck) {
    busyDeployment(scene, name, 1);
    source.stuck.add(name);
  }
  for (const name of ["web", "db"]) busyDeployment(scene, name, 1);
  scene.settings.rightsizingWorkers = 2;
  scene.policy("all");
  await scene.run(15 * MINUTE_MS);
  for (const name of ["web", "db"]) assert.equal(scene.recordOf(name)?.status, "Applied");
  for (const name of stuck) assert.equal(scene.recordOf(name)?.reason, "ProviderUnavailable");
  assert.match(scene.recordOf("stuck0")?.message ?? "", / 300 s/);
  source.stuck.clear();
  await scene.run(15 * MINUTE_MS);
  for (const name of stuck) assert.equal(scene.recordOf(name)?.status, "Applied");
});

const resizes = ({ api }: RightsizingScene): number => api.requests.get("resize Pod") ?? 0;

/** Two Deployments; usage of the second one takes four minutes to come. */
function slowCycle(scene: RightsizingScene): void {
  busyDeployment(scene, "web");
  busyDeployment(scene, "db");
  scene.delays.set("db", 4 * MINUTE_MS);
}

test("runRightsizingLoop() keeps cooldown and values in force over a crash in the middle of a cycle", async (scene) => {
  slowCycle(scene);
  scene.policy("all");
  await scene.run(10_000);
  const before = scene.recordOf("web");
  assert.equal(before?.status, "Applied");
  scene.crash();
  scene.uses("web", { cpu: 300, memory: 80 * MI });
  await scene.run(15 * MINUTE_MS);
  const { appliedAtMs, inForce, reason } = scene.recordOf("web") ?? {};
  assert.deepEqual(
    [appliedAtMs, inForce, reason],
    [before.appliedAtMs, before.inForce, "Cooldown"],
  );
  assert.equal(resizes(scene), 4, "each of four pods once");
});

test("runRightsizingLoop() decides again what was applied in the seconds before a crash", async (scene) => {
  slowCycle(scene);
  scene.policy("all");
  while (resizes(scene) < 2) await scene.run(1);
  scene.crash();
  assert.equal(scene.recordOf("web"), undefined);
  await scene.run(15 * MINUTE_MS);
  for (const name of ["web", "db"]) {
    assert.equal(scene.recordOf(name)?.status, "Applied");
    assert.ok(scene.podsOf(name).every(({ containers: [app] }) => app?.requests.cpu === 180));
  }
});

for (const how of ["crash", "lost answer"] as const) {
  test(`runRightsizingLoop() knows its own rollout after a ${how}, and does not take it for an edit`, async (scene) => {
    busyDeployment(scene);
    const author = { requests: { cpu: 1000, memory: 640 * MI }, limits: {} };
    scene.template("web", [bareContainer("app", author)]);
    scene.policy("all", { mode: "Recommend" });
    await scene.run(10 * MINUTE_MS);
    const requestOf = (): number | undefined =>
      scene.api.store.tables.Deployment.get("shop/web")?.spec?.template.containers[0]?.requests
        .cpu;
    if (how === "lost answer") {
      scene.api.failNext({ verb: "patch", kind: "Deployment", status: 0, done: true });
    }
    const strategy = { allowInPlaceResize: false, allowRecreate: true };
    scene.policy("all", { mode: "Auto", strategy });
    while (requestOf() === 1000) await scene.run(1);
    const writtenMs = scene.clock.wall();
    if (how === "crash") scene.crash();
    scene.uses("web", { cpu: 75, memory: 40 * MI });
    await scene.run(20 * MINUTE_MS);
    const { status, reason, appliedAtMs = 0, method, template: [known] = [] } =
      scene.recordOf("web") ?? {};
    assert.deepEqual([status, reason, method], ["Skipped", "Cooldown", "Recreate"]);
    const seenMs = appliedAtMs - writtenMs;
    assert.ok(seenMs >= 0 && seenMs < 6 * MINUTE_MS, `${seenMs}`);
    assert.deepEqual([known?.cpu, known?.cpuChanged], [180, undefined]);
    const reported = scene.events.filter(({ about, reason, message }) =>
      about.kind === "Deployment" && about.name === "web" && reason === "OptimizationApplied" &&
      message.includes("not on record")
    );
    assert.equal(reported.length, 1);
    await scene.run(25 * MINUTE_MS);
    assert.equal(requestOf(), 90);
  });
}

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
          ({ spec: _makes, ...rest }) => ({
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
