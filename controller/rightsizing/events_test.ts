import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { ApiError } from "../../shared/api/api_error.ts";
import { createPermits } from "../../shared/control/permits.ts";
import { silentLog } from "../../shared/log.ts";
import type { WorkloadEvent } from "../../shared/rightsizing/guards/workload_events.ts";
import {
  reconciledAs,
  recordOf,
  storedPolicy,
  workloadNamed,
} from "../../tests/fixtures/rightsizing_outcomes.ts";
import { recordedAppliers } from "../../tests/fixtures/rightsizing/recorded_appliers.ts";
import { emitCycleEvents, policySubject, workloadSubject, writeAnnotations } from "./events.ts";
import type { RightsizingEvent } from "./ports.ts";

const record = recordOf("web");

pure("emitCycleEvents() emits an event a workload, and one a kind on the policy", () => {
  const emitted: RightsizingEvent[] = [];
  const skipped: WorkloadEvent = { type: "Normal", reason: "WorkloadSkipped", message: "why" };
  const failed: WorkloadEvent = { type: "Warning", reason: "UpdateFailed", message: "what" };
  emitCycleEvents(storedPolicy(), {
    reconciled: [
      reconciledAs("web", { events: [skipped] }),
      reconciledAs("db", { events: [skipped, failed] }),
      reconciledAs("job", { events: [skipped] }),
    ],
    events: { emit: (event) => void emitted.push(event) },
  });
  const of = (uid: string): string[] =>
    emitted.filter(({ about }) => about.uid === uid).map(({ message }) => message);
  assert.deepEqual([of("uid-web"), of("uid-db")], [["why"], ["why", "what"]]);
  assert.deepEqual(of("all"), [
    "Deployment shop/web (and 2 more): why",
    "Deployment shop/db: what",
  ]);
  assert.deepEqual(emitted[0]?.about, workloadSubject(workloadNamed("web")));
  assert.deepEqual(emitted.at(-1)?.about, policySubject(storedPolicy()));
});

pure("writeAnnotations() writes what differs, and removes those without value", async () => {
  const appliers = recordedAppliers();
  const parts = { workloads: appliers.workloads, permits: createPermits(() => 2), log: silentLog };
  await writeAnnotations([{ workload: workloadNamed("web"), record }], parts);
  const [first = ""] = appliers.asked;
  assert.match(first, /^annotate web .*"optipod\.io\/recommendation\.app\.cpu-request":"150m"/);
  const annotations = JSON.parse(first.slice("annotate web ".length));
  await writeAnnotations([{ workload: workloadNamed("web", annotations), record }], parts);
  assert.equal(appliers.asked.length, 1);
  await writeAnnotations(
    [{ workload: workloadNamed("web", annotations), record: undefined }],
    parts,
  );
  assert.match(appliers.asked[1] ?? "", /"optipod\.io\/managed":null/);
});

pure("writeAnnotations() goes on after a refusal, and logs it", async () => {
  const appliers = recordedAppliers();
  const emitted: unknown[] = [];
  const log = {
    ...silentLog,
    warn: (_message: string, fields = {}) => void emitted.push(Object.values(fields)[0]),
  };
  appliers.refusals.set("annotate web", new ApiError(403, "Forbidden", "no"));
  appliers.refusals.set("annotate db", new ApiError(404, "NotFound", "gone"));
  const updates = ["web", "db", "job"].map((name) => ({ workload: workloadNamed(name), record }));
  await writeAnnotations(updates, {
    workloads: appliers.workloads,
    permits: createPermits(() => 1),
    log,
  });
  assert.equal(appliers.asked.length, 3);
  assert.deepEqual(emitted, ["Deployment shop/web"]);
});
