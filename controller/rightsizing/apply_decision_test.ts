import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import type { RightsizingReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import { describeWanted, wantedOf } from "../../shared/resize/inputs/resources.ts";
import { distributionOfSamples } from "../../lab/simulation/rightsizing/sampled_distribution.ts";
import type { ContainerUsage } from "../../shared/rightsizing/distribution.ts";
import {
  retryResize,
  type RightsizingDecision,
} from "../../shared/rightsizing/guards/decide_rightsizing.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import type { RecordedAudit } from "../../tests/fixtures/recorded_audit.ts";
import {
  type RecordedAppliers,
  recordedAppliers,
} from "../../tests/fixtures/rightsizing/recorded_appliers.ts";
import {
  autoPolicy,
  type FactsChoice,
  MI,
  NOW_MS,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { type Applied, type ApplyDecision, applyDecision } from "./apply_decision.ts";
import type { UsageAnswer } from "./ports.ts";
import { learnUsage, silentSource } from "./reconcile_workload.ts";

const FORBIDDEN = new ApiError(
  403,
  "Forbidden",
  'pods "web-1" is forbidden: User "u" cannot patch resource "pods/resize" in API group "" in the ' +
    'namespace "shop"',
);

/** CPU 150 m, with a limit of 300 m where the choice says so. */
function decisionFor(method: ApplyDecision["method"], limit?: number): ApplyDecision {
  const pair = limit === undefined ? { request: 150 } : { request: 150, limit };
  const wanted = wantedOf([{ container: "app", resource: "cpu", pair }]);
  return { outcome: "apply", method, wanted, clamps: [] };
}

const RECREATE = decisionFor("Recreate");

async function applied(
  decision: ApplyDecision,
  { refusals = [], marketLimit, ...choice }: FactsChoice & {
    readonly refusals?: readonly (readonly [string, ApiError])[];
    /** Of the pods as they are; the user's own where absent. */
    readonly marketLimit?: number;
  } = {},
): Promise<
  Applied & Pick<RecordedAppliers, "asked"> & { readonly audited: RecordedAudit["changes"] }
> {
  const facts = rightsizingFacts(choice);
  const appliers = recordedAppliers();
  for (const [what, refusal] of refusals) appliers.refusals.set(what, refusal);
  const pods = new Map(
    facts.pods.map((pod) => [
      pod.metadata.uid,
      marketLimit === undefined
        ? pod
        : { ...pod, containers: [templateContainer({ limits: { cpu: marketLimit } })] },
    ]),
  );
  return {
    ...await applyDecision(facts, decision, { pods, appliers: appliers }),
    asked: appliers.asked,
    audited: appliers.audit.changes,
  };
}

pure("applyDecision() by recreation changes the template once", async () => {
  const { asked, inForce, failure, audited } = await applied(decisionFor("Recreate"));
  assert.equal(asked.length, 1);
  assert.match(asked[0] ?? "", /^recreate web .*cpu 150m$/);
  assert.deepEqual([...inForce ?? []], [["app", { requests: { cpu: 150 }, limits: {} }]]);
  assert.equal(failure, undefined);
  assert.partialDeepStrictEqual(audited, [{
    ...{ source: "rightsizing", action: "template", outcome: "accepted", auditID: "id0" },
    ...{ reason: "OptimizationApplied", kind: "Deployment", namespace: "shop", name: "web" },
    ...{ container: "app", before: {}, after: { requests: { cpu: "150m" } } },
  }]);
});

pure("applyDecision() by recreation keeps refused values out of force", async () => {
  const { inForce, failure, audited } = await applied(decisionFor("Recreate"), {
    refusals: [["recreate web", new ApiError(409, "Conflict", "changed")]],
  });
  assert.deepEqual([inForce, failure?.next], [undefined, "fresh"]);
  assert.deepEqual(audited.map(({ outcome }) => outcome), ["conflict"]);
});

pure("applyDecision() counts server-side applies of templates by the answer", async () => {
  const counted: string[] = [];
  const recreate = (failure?: Error, useServerSideApply = true): Promise<Applied> => {
    const { workloads, ...appliers } = recordedAppliers();
    const writer = failure && { recreate: () => Promise.reject(failure) };
    return applyDecision(rightsizingFacts({ strategy: { useServerSideApply } }), RECREATE, {
      pods: new Map(),
      appliers: {
        ...appliers,
        workloads: { ...workloads, ...writer },
        templatePatched: ({ kind, outcome }) => void counted.push(`${kind} ${outcome}`),
      },
    });
  };
  await recreate(undefined, false);
  assert.deepEqual(counted, []);
  await recreate();
  for (const status of [403, 409, 404, 503]) await recreate(new ApiError(status, "", "no"));
  await assert.rejects(recreate(new TypeError("Cannot read it")), TypeError);
  const outcomes = ["accepted", "refused", "conflict", "gone", "busy", "failed"];
  assert.deepEqual(counted, outcomes.map((outcome) => `Deployment ${outcome}`));
});

pure("applyDecision() in place resizes each pod, and puts values in force", async () => {
  const { asked, inForce, audited } = await applied(decisionFor("InPlace"));
  assert.deepEqual(audited.map(({ source, name }) => `${source} ${name}`), [
    "rightsizing web-1",
    "rightsizing web-2",
  ]);
  assert.deepEqual(asked, [
    "resize web-1 app requests.cpu=150m",
    "resize web-2 app requests.cpu=150m",
  ]);
  assert.equal(inForce?.get("app")?.requests.cpu, 150);
  const none = await applied(decisionFor("InPlace"), { pods: [] });
  assert.deepEqual(none.asked, []);
  assert.equal(none.inForce?.get("app")?.requests.cpu, 150);
});

pure("applyDecision() names pods that are behind", async () => {
  const busy = new ApiError(503, "ServiceUnavailable", "busy");
  const { inForce, failure, behind } = await applied(decisionFor("InPlace"), {
    refusals: [["resize web-2", busy]],
  });
  assert.equal(inForce?.get("app")?.requests.cpu, 150);
  assert.deepEqual([failure?.next, behind], ["back-off", ["web-2"]]);
  const none = await applied(decisionFor("InPlace"), {
    refusals: [["resize web-1", busy], ["resize web-2", busy]],
  });
  assert.equal(none.inForce, undefined);
});

pure("applyDecision() makes limits the original ones of the market's pods", async () => {
  const market = { marketManages: true, strategy: { updateRequestsOnly: false } };
  const { asked } = await applied(decisionFor("InPlace", 300), market);
  assert.deepEqual(asked.filter((line) => line.startsWith("own")), [
    "own web-1 app=300",
    "own web-2 app=300",
  ]);
  const busy = await applied(decisionFor("InPlace", 300), {
    ...market,
    refusals: [["resize web-2", new ApiError(503, "ServiceUnavailable", "busy")]],
  });
  assert.deepEqual(busy.asked.filter((line) => line.startsWith("own")), ["own web-1 app=300"]);
  const pods = [workloadPod("web-1", rightsizingFacts().workload.template.containers)];
  const denied = await applied(decisionFor("InPlace", 300), {
    ...market,
    pods,
    refusals: [["resize web-1", FORBIDDEN]],
  });
  assert.deepEqual(denied.asked.filter((line) => line.startsWith("own")), []);
  assert.match(denied.failure?.permission ?? "", /pods\/resize/);
});

pure("applyDecision() throws errors that the server did not answer", async () => {
  const facts = rightsizingFacts();
  const appliers = {
    ...recordedAppliers(),
    resizer: { resize: () => Promise.reject(new TypeError("Cannot send it")) },
  };
  await assert.rejects(
    () => applyDecision(facts, decisionFor("InPlace"), { pods: new Map(), appliers: appliers }),
    TypeError,
  );
});

pure("applyDecision() first raises a limit below the new request", async () => {
  const { asked } = await applied(decisionFor("InPlace"), { marketLimit: 120 });
  assert.deepEqual(asked.slice(0, 2), [
    "market web-1 app limits.cpu=150m",
    "resize web-1 app requests.cpu=150m",
  ]);
  const refused = await applied(decisionFor("InPlace"), {
    marketLimit: 120,
    refusals: [["market web-1", new ApiError(409, "Conflict", "changed")]],
  });
  assert.deepEqual(refused.behind, ["web-1"]);
  assert.ok(!refused.asked.some((line) => line.startsWith("resize web-1")));
});

pure("applyDecision() skips a pod that is gone, and ends without permission", async () => {
  const gone = await applied(decisionFor("InPlace"), {
    refusals: [["resize web-1", new ApiError(404, "NotFound", "gone")]],
  });
  assert.deepEqual([gone.failure, gone.behind, gone.asked.length], [undefined, [], 2]);
  const denied = await applied(decisionFor("InPlace"), { refusals: [["resize web-1", FORBIDDEN]] });
  assert.deepEqual(denied.asked, ["resize web-1 app requests.cpu=150m"]);
  assert.match(denied.failure?.permission ?? "", /^patch pods\/resize .*shop$/);
});

function usageOf(container: string, cpu: number[], memory: number[]): ContainerUsage {
  const window = { nowMs: NOW_MS, windowMs: 86_400_000 };
  const distribution = (values: number[]): ContainerUsage["cpu"] =>
    distributionOfSamples(
      values.map((value, index) => ({ atMs: NOW_MS - index * 1000, value })),
      window,
    );
  return { container, cpu: distribution(cpu), memory: distribution(memory) };
}

const many = (value: number, count = 20): number[] => new Array(count).fill(value);

/** Of a workload with container `app` and sidecar `proxy`. */
function evaluated(answer: UsageAnswer, readySinceMs?: number) {
  const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
  const { pods, workload } = rightsizingFacts({ containers });
  const ready = readySinceMs === undefined ? {} : { readySinceMs };
  const facts = { nowMs: NOW_MS, pods: pods.map((pod) => ({ ...pod, ...ready })) };
  const found = learnUsage(answer, { policy: autoPolicy(), workload, corrections: new Map() });
  return { missing: silentSource(facts, answer), found };
}

const answerOf = (...usages: ContainerUsage[]): UsageAnswer => ({
  usage: new Map(usages.map((usage) => [usage.container, usage])),
});

pure("learnUsage() recommends for each container but sidecars, with samples and peaks", () => {
  const { found, missing } = evaluated(answerOf(
    usageOf("app", many(150), [...many(80 * MI), 90 * MI]),
    usageOf("proxy", many(10), many(MI)),
  ));
  assert.ok("recommendations" in found);
  const { recommendations, memoryPeaks, samples } = found;
  assert.deepEqual(recommendations.map(({ container, cpu }) => [container, cpu]), [["app", 180]]);
  assert.equal(memoryPeaks.get("app"), 90 * MI);
  assert.deepEqual([...samples], [["app", 20]]);
  assert.equal(missing, undefined);
});

pure("learnUsage() counts the samples of the resource that has fewer", () => {
  const { found } = evaluated(answerOf(usageOf("app", many(150), many(80 * MI, 4))));
  assert.ok("recommendations" in found);
  assert.equal(found.samples.get("app"), 4);
  assert.deepEqual(found.recommendations, []);
});

pure("learnUsage() has a reason where a source does not answer", () => {
  for (
    const [problem, reason] of [
      ["unreachable", "ProviderUnavailable"],
      ["unavailable", "ProviderUnavailable"],
      ["refused", "MetricsMissing"],
      ["unreadable", "MetricsMissing"],
    ] as const
  ) {
    const { found } = evaluated({ problem, message: "why" });
    assert.deepEqual(found, { reason, message: "why" });
  }
});

pure("silentSource() misses metrics of pods that were Ready for ten minutes", () => {
  const nothing = { usage: new Map([["app", usageOf("app", [], [])]]) };
  const missing = (readyMs?: number, watchedMs?: number) =>
    evaluated(
      watchedMs === undefined ? nothing : { ...nothing, watchedSinceMs: NOW_MS - watchedMs },
      readyMs === undefined ? undefined : NOW_MS - readyMs,
    ).missing;
  for (
    const [readyMs, watchedMs] of [[undefined], [599_999], [3_600_000, 0], [3_600_000, 599_999]]
  ) {
    assert.equal(missing(readyMs, watchedMs), undefined);
  }
  assert.equal(missing(3_600_000, 600_000)?.reason, "MetricsMissing");
  const { reason, message } = missing(600_000) ?? assert.fail();
  assert.equal(reason, "MetricsMissing");
  assert.match(message, /web-1 .* 10 min$/);
});

const IN_FORCE = { requests: { cpu: 105, memory: 96 * MI }, limits: {} };

/** What is done for pods of which `web-1` has what is in force and `web-2` the template's values. */
function done(
  reason: RightsizingReason,
  { restOnly, ...choice }: FactsChoice & { readonly restOnly?: true } = {},
): string | undefined {
  const pods = [
    workloadPod("web-1", [templateContainer(IN_FORCE)]),
    workloadPod("web-2", [templateContainer()]),
  ];
  const held: RightsizingDecision = {
    outcome: "hold",
    by: "",
    reason,
    message: "",
    clamps: [],
    ...(restOnly && { restOnly }),
  };
  const inForce = new Map([["app", IN_FORCE]]);
  const facts = rightsizingFacts({ pods, inForce, lastAppliedMs: NOW_MS - 1, ...choice });
  const again = retryResize(facts, held);
  return again?.outcome === "apply"
    ? `${again.method} ${describeWanted(again.wanted)}`
    : again?.reason;
}

pure("retryResize() gives a straggler what is in force, in place only", () => {
  const late = workloadPod("web-2", [templateContainer({ requests: { cpu: 105 } })]);
  const there = [workloadPod("web-1", [templateContainer(IN_FORCE)])];
  const nodes = new Map([["node-1", { pressures: ["MemoryPressure"] as const }]]);
  const { workload } = rightsizingFacts({ containers: [templateContainer(IN_FORCE)] });
  const strategy = { allowRecreate: true };
  const all = "InPlace app cpu 105m, app memory 96Mi";
  const rows: readonly (readonly [RightsizingReason, Parameters<typeof done>[1], unknown])[] = [
    ["Cooldown", {}, all],
    ["InsufficientSamples", {}, all],
    ["BelowThreshold", { restOnly: true }, all],
    ["HPAConflict", { restOnly: true }, all],
    ["HPAConflict", {}, undefined],
    ["RecommendOnly", {}, undefined],
    ["DryRun", {}, undefined],
    ["RolloutInProgress", {}, undefined],
    ["Cooldown", { dryRun: true }, "DryRun"],
    ["Cooldown", { pods: [late] }, "InPlace app memory 96Mi"],
    ["Cooldown", { pods: [late], nodes }, "NodePressure"],
    ["Cooldown", { pods: there }, undefined],
    ["Cooldown", { inForce: new Map() }, undefined],
    // What stands in the template is left to a rollout.
    ["Cooldown", { workload, strategy, resizeServed: false }, undefined],
    ["Cooldown", { workload, resizeServed: false }, "InPlaceResizeUnavailable"],
    ["Cooldown", { workload, strategy }, all],
  ];
  for (const [reason, choice, expected] of rows) {
    assert.equal(done(reason, choice), expected, `${reason} ${JSON.stringify(choice)}`);
  }
  for (const allowRecreate of [false, true]) {
    for (const reason of ["Cooldown", "BelowThreshold"] as const) {
      const holds = (choice: FactsChoice): string | undefined =>
        done(reason, { restOnly: true, ...choice });
      const strategy = { allowRecreate };
      assert.equal(holds({ strategy, resizeServed: false }), "InPlaceResizeUnavailable");
      const noMethod = { strategy: { ...strategy, allowInPlaceResize: false } };
      assert.equal(holds(noMethod), "MethodNotAllowed");
      assert.equal(holds({ strategy, nodes }), "NodePressure");
    }
  }
});
