import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { wantedOf } from "../../shared/resize/inputs/resources.ts";
import type { RecordedAudit } from "../../tests/fixtures/recorded_audit.ts";
import {
  type RecordedAppliers,
  recordedAppliers,
} from "../../tests/fixtures/rightsizing/recorded_appliers.ts";
import {
  type FactsChoice,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { type Applied, type ApplyDecision, applyDecision } from "./apply_decision.ts";

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
