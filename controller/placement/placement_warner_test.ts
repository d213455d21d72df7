import assert from "node:assert/strict";
import type { AdmissionRequest } from "../../shared/admission/admission_review.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { handCopies, PLACEMENT_RULES, SHOP } from "../../tests/fixtures/placement_copies.ts";
import { createCopiedFacts } from "./copied_facts.ts";
import { createPlacementWarner } from "./placement_warner.ts";

const SIGNAL = new AbortController().signal;
const ENABLED = { "spotalis.io/enabled": "true" };
const WRONG = { "spotalis.io/spot-percentage": "most", "spotalis.io/min-on-demand": "two" };

function stage() {
  const copies = handCopies();
  const warner = createPlacementWarner({
    facts: createCopiedFacts(copies, { rules: () => PLACEMENT_RULES }),
    scope: () => PLACEMENT_RULES.scope,
  });
  const warned = async (
    annotations: Readonly<Record<string, string>>,
    changes: Partial<AdmissionRequest> = {},
  ) => {
    const mutation = await warner.mutate({
      uid: "1",
      kind: "Deployment",
      resource: "deployments",
      operation: "UPDATE",
      namespace: "shop",
      name: "web",
      dryRun: false,
      object: { metadata: { name: "web", labels: ENABLED, annotations }, spec: {} },
      ...changes,
    }, SIGNAL);
    assert.deepEqual(mutation?.patch ?? [], []);
    return mutation?.warnings;
  };
  return { copies, warned };
}

Deno.test("createPlacementWarner() names each fault to whoever makes or changes a workload", async () => {
  const { warned } = stage();
  for (const changes of [{}, { operation: "CREATE", dryRun: true }] as const) {
    assertMatches(await warned(WRONG, changes) ?? [], [
      / Deployment web /,
      /spot-percentage .*"most"/,
      /min-on-demand .*"two"/,
    ]);
  }
  const db = await warned(WRONG, { kind: "StatefulSet", resource: "statefulsets" });
  assert.match(db?.[0] ?? "", /StatefulSet web/);
});

Deno.test("createPlacementWarner() warns of what the admission policy can't see", async () => {
  const { copies, warned } = stage();
  const share = { "spotalis.io/spot-percentage": "70%" };
  const never = {
    "spotalis.io/disruption-schedule": "0 0 30 2 *",
    "spotalis.io/disruption-duration": "2h",
  };
  assert.match(
    (await warned({ ...share, ...never }))?.[1] ?? "",
    /-schedule .*workload/,
  );
  copies.namespaces.put({ metadata: { ...SHOP.metadata, annotations: never } });
  assert.match((await warned(share))?.[1] ?? "", /-schedule .*namespace/);
});

Deno.test("createPlacementWarner() is quiet where nothing is wrong, or nothing is placed", async () => {
  const { copies, warned } = stage();
  assert.equal(await warned({ "spotalis.io/spot-percentage": "70%" }), undefined);
  assert.equal(await warned({}), undefined);
  for (
    const changes of [
      { operation: "DELETE" },
      { resource: "deployments/scale" },
      { resource: "pods", kind: "Pod" },
      { resource: "daemonsets", kind: "DaemonSet" },
      { namespace: "kube-system" },
      { namespace: "unknown" },
      { object: { metadata: { annotations: WRONG } } },
    ] as const
  ) {
    assert.equal(await warned(WRONG, changes), undefined, JSON.stringify(changes));
  }
  copies.namespaces.synced = false;
  assert.equal(await warned(WRONG), undefined);
  copies.namespaces.synced = true;
  const labels = { "spotalis.io/enabled": "false" };
  copies.namespaces.put({ metadata: { ...SHOP.metadata, labels } });
  assert.equal(await warned(WRONG), undefined);
});
