import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { createPermits } from "../../../shared/control/permits.ts";
import { silentLog } from "../../../shared/log.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { recordOf, storedPolicy } from "../../../tests/fixtures/rightsizing_outcomes.ts";
import { recordedAppliers } from "../../../tests/fixtures/rightsizing/recorded_appliers.ts";
import { autoPolicy, NOW_MS } from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import { collectGarbage } from "./garbage_collection.ts";

interface Choice {
  readonly isThere?: boolean;
  readonly annotateWorkloads?: boolean;
  readonly minutesAgo?: number;
}

/** What is kept of Deployment `web` of policy `shop/all`. */
async function keptWith(
  policies: readonly StoredPolicy[],
  { isThere = true, annotateWorkloads = true, minutesAgo = 1000 }: Choice,
): Promise<string> {
  const kept: string[] = [];
  const appliers = recordedAppliers();
  // It has no template that can be read.
  const workload = sampleWorkload({ annotations: { "optipod.io/policy": "shop/all" } });
  const record = recordOf("web", { recommendedAtMs: NOW_MS - minutesAgo * 60_000 });
  await collectGarbage({
    workloads: new Map(isThere ? [["Deployment/shop/web", workload]] : []),
    policies,
    namespaces: new Map([["shop", {}]]),
    policyNamespaces: [],
    annotateWorkloads,
    nowMs: NOW_MS,
    records: {
      keepOnly: (keep) => void (keep(record) && kept.push("record")),
      flush: () => Promise.resolve(),
    },
    writer: appliers.workloads,
    vpas: {
      keepOnly: (keep) => Promise.resolve(void (keep("Deployment/shop/web") && kept.push("VPA"))),
    },
    permits: createPermits(() => 1),
    log: silentLog,
  });
  if (appliers.asked.length === 0 && isThere) kept.push("annotations");
  else if (isThere) assert.deepEqual(appliers.asked, ['annotate web {"optipod.io/policy":null}']);
  return kept.join(", ");
}

pure("collectGarbage() keeps what a policy is for, or may be for", async () => {
  const all = storedPolicy();
  const other = storedPolicy("other");
  const { updateStrategy } = autoPolicy({ publishVPA: true });
  const publishing = storedPolicy("all", { updateStrategy });
  const rows: readonly (readonly [string, readonly StoredPolicy[], Choice, string])[] = [
    ["a policy", [all], {}, "record, annotations"],
    ["no policy", [], {}, ""],
    [
      "of other kinds",
      [storedPolicy("all", { selector: { workloadKinds: ["DaemonSet"] } })],
      {},
      "",
    ],
    ["of another policy", [other], {}, "record"],
    ["annotations off", [all], { annotateWorkloads: false }, "record"],
    ["disabled", [storedPolicy("all", { mode: "Disabled" })], {}, "record, annotations"],
    // A policy that can't be read may publish it.
    ["unreadable", [storedPolicy("all", null)], {}, "record, VPA, annotations"],
    ["another is unreadable", [storedPolicy("other", null)], {}, ""],
    ["publishing", [publishing], {}, "record, VPA, annotations"],
    [
      "publishing, disabled",
      [storedPolicy("all", { updateStrategy, mode: "Disabled" })],
      {},
      "record, annotations",
    ],
    [
      "publishing, outweighed",
      [publishing, storedPolicy("heavier", { weight: 500 })],
      {},
      "record, annotations",
    ],
    // A deleted workload may come back under its name.
    ["deleted", [publishing], { isThere: false }, ""],
    ["deleted for less than 15 min", [all], { isThere: false, minutesAgo: 14 }, "record"],
    ["deleted for 15 min", [all], { isThere: false, minutesAgo: 15 }, ""],
    [
      "deleted, of a slow policy",
      [storedPolicy("all", { intervalMs: 3_600_000 })],
      { isThere: false, minutesAgo: 69 },
      "record",
    ],
    ["deleted with its policy", [], { isThere: false, minutesAgo: 1 }, ""],
  ];
  for (const [what, policies, choice, expected] of rows) {
    assert.equal(await keptWith(policies, choice), expected, what);
  }
});
