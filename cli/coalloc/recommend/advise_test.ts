import { NO_RESOURCES } from "../../../shared/api/pod.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  reportsOf,
  shopPods,
  shopRecords,
  shopTemplates,
  template,
} from "../../../tests/fixtures/cli/advised_shop.ts";
import { sampleAllocation } from "../../../tests/contract/support/sample_objects.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { workloadRecords } from "../../../tests/fixtures/rightsizing/workload_records.ts";
import type { WorkloadRecord } from "../../../shared/rightsizing/workload_record.ts";
import type { AdviceView, AdvisedWorkload } from "./advice_view.ts";
import { adviseAll } from "./advise.ts";
import { sumOfChanges } from "./changes.ts";
import { recommendTable } from "./recommend_table.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NOTHING_ELSE = { templates: undefined, pods: undefined, allocations: [] };

function viewOf(workloads: readonly AdvisedWorkload[]): AdviceView {
  const changes = sumOfChanges(workloads.map((one) => one.changes));
  return { workloads, changes, notes: [] };
}

/** Names of all containers that a record reports, once each. */
function containersOf({ recommendations, inForce, usage = [] }: WorkloadRecord): string[] {
  const named = [...recommendations, ...inForce, ...usage].map(({ container }) => container);
  return [...new Set(named)].sort();
}

pure(
  "adviseAll() shows each container of the reports exactly once, as recommendTable() does",
  () => {
    fc.assert(
      fc.property(
        workloadRecords("shop", { mostContainers: 150, mostWorkloads: 8 }),
        fc.boolean(),
        (records, knowsPods) => {
          const reports = reportsOf(records).toReversed();
          const pods = knowsPods ? shopPods() : undefined;
          const workloads = adviseAll({ ...NOTHING_ELSE, reports, pods });
          const keys = workloads.map(({ kind, name }) => `${kind}/${name}`);
          const wanted = records.map(({ workload: { kind, name } }) => `${kind}/${name}`);
          assert.deepEqual(keys, wanted.toSorted());
          for (const record of records) {
            const { kind, name } = record.workload;
            const found = workloads.find((one) => one.kind === kind && one.name === name);
            const names = found?.containers.map((one) => one.name) ?? [];
            assert.deepEqual(names.toSorted(), containersOf(record));
          }
          const rows = recommendTable(viewOf(workloads), { nowMs: 0 }).split("\n")
            .filter((line) => line.startsWith("shop ")).map((line) => line.split(/ {3,}/));
          const expected = records.flatMap((record) => {
            const { kind, name } = record.workload;
            const names = containersOf(record);
            const shown = names.length > 0 ? names : ["-"];
            return shown.map((container) => `${kind.toLowerCase()}/${name} ${container}`);
          });
          if (records.length === 0) return;
          const shown = rows.map(([, workload, container]) => `${workload} ${container}`);
          assert.deepEqual(shown.toSorted(), expected.toSorted());
        },
      ),
    );
  },
);

pure(
  "adviseAll() begins with the template's containers, also those without recommendations",
  () => {
    const [web] = shopRecords();
    assert.ok(web !== undefined);
    const bare = { sidecar: false, ...NO_RESOURCES };
    const templates = [
      template("Deployment/web", 1, [{ name: "new", ...bare }, { name: "proxy", ...bare }]),
    ];
    const [advised] = adviseAll({ ...NOTHING_ELSE, reports: reportsOf([web]), templates });
    assert.deepEqual(
      advised?.containers.map(({ name, template, recommended }) => [
        name,
        template !== undefined,
        recommended !== undefined,
      ]),
      [["new", true, false], ["proxy", true, true], ["app", false, true]],
    );
  },
);

pure("adviseAll() puts the parts of a workload together in the order of the reports", () => {
  const [web] = shopRecords();
  const [report] = reportsOf(web === undefined ? [] : [web]);
  const [workload] = report?.workloads ?? [];
  const [advice] = workload?.recommendations ?? [];
  assert.ok(report !== undefined && workload !== undefined && advice !== undefined);
  const reports = [10, 2, 1].map((part) => ({
    ...report,
    metadata: { ...report.metadata, name: `recommendations-${part}` },
    workloads: [{ ...workload, recommendations: [{ ...advice, container: `c${part}` }] }],
  }));
  const [advised, ...others] = adviseAll({ ...NOTHING_ELSE, reports });
  assert.deepEqual(others, []);
  assert.deepEqual(advised?.containers.map(({ name }) => name), ["c1", "c2", "c10", "app"]);
});

pure("adviseAll() takes own requests of a Guaranteed pod in the market for what it has", () => {
  const [pod] = shopPods();
  const [web] = shopRecords();
  assert.ok(pod !== undefined && web !== undefined);
  const allocation = sampleAllocation(pod);
  const cpuOf = (status: PodAllocation["status"]): number | undefined => {
    const allocations = [{ ...allocation, ...(status === undefined ? {} : { status }) }];
    const facts = { ...NOTHING_ELSE, reports: reportsOf([web]), pods: [pod], allocations };
    return adviseAll(facts)[0]?.containers.find(({ name }) => name === "app")?.pods[0]?.cpu;
  };
  assert.equal(cpuOf(undefined), 500);
  assert.equal(cpuOf({ originalRequests: [{ name: "app", cpu: "125m" }] }), 125);
  assert.equal(cpuOf({ originalRequests: [{ name: "other", cpu: "125m" }] }), 500);
});

pure("adviseAll() reports what is gone from what it can't know", () => {
  const reports = reportsOf(shopRecords());
  const exists = (templates: ReturnType<typeof shopTemplates> | undefined) =>
    adviseAll({ ...NOTHING_ELSE, reports, templates }).map((one) => one.exists);
  assert.deepEqual(exists(undefined), [undefined, undefined, undefined]);
  assert.deepEqual(exists(shopTemplates().slice(1)), [true, false, true]);
  const without = adviseAll({ ...NOTHING_ELSE, reports, templates: shopTemplates() });
  assert.deepEqual(without.map(({ pods }) => pods), [undefined, undefined, undefined]);
  // Template × replicas: 3 × (500 − 336).
  assert.equal(without[1]?.changes.cpu.shrinks, 492);
});

pure("adviseAll() leaves out pods that have ended, are ending, or belong to another owner", () => {
  const reports = reportsOf(shopRecords());
  const count = (pods: ReturnType<typeof shopPods>) =>
    adviseAll({ ...NOTHING_ELSE, reports, pods }).map((one) => one.pods);
  assert.deepEqual(count(shopPods()), [1, 3, 2]);
  const [first, second, third, ...others] = shopPods();
  assert.ok(first !== undefined && second !== undefined && third !== undefined);
  const ended = { ...first, phase: "Failed" as const };
  const ending = { ...second, metadata: { ...second.metadata, terminating: true } };
  const elsewhere = { ...third, metadata: { ...third.metadata, namespace: "far" } };
  assert.deepEqual(count([ended, ending, elsewhere, ...others]), [1, 0, 2]);
});
