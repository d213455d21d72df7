import assert from "node:assert/strict";
import fc from "fast-check";
import { recordsOf, reportParts } from "../../shared/rightsizing/report_parts.ts";
import { serveCanned, statusAnswer } from "../../tests/fixtures/canned_server.ts";
import { workloadRecords } from "../../tests/fixtures/workload_records.ts";
import {
  createReportStore,
  parseRecommendationReport,
  recommendationReportListWatch,
} from "./recommendation_reports.ts";

const GOLDEN = JSON.parse(
  Deno.readTextFileSync(
    new URL("../../tests/fixtures/optipod/stored/report.json", import.meta.url),
  ),
);
const { signal } = new AbortController();
const COLLECTION = "/apis/optipod.io/v1alpha1/namespaces/shop/recommendationreports";
const OBJECT = `${COLLECTION}/recommendations-1`;

Deno.test("parseRecommendationReport() reads a report that the first version stored, unchanged", () => {
  const report = parseRecommendationReport(GOLDEN);
  assert.deepEqual(report, GOLDEN);
  const records = recordsOf([report], "shop");
  assert.deepEqual(records.map(({ workload, inForce }) => [workload.name, inForce]), [
    ["db", [{ container: "db", memory: 2 ** 30 }]],
    ["queue", [{
      container: "queue",
      cpu: 200,
      memory: 88_617_123,
      cpuLimit: 800,
      memoryLimit: 97_478_835,
    }]],
  ]);
  assert.deepEqual(reportParts(records), [
    { name: "recommendations-1", workloads: GOLDEN.workloads },
  ]);
});

Deno.test("property 31: parseRecommendationReport() reads back what was written, unchanged", () => {
  const { metadata, apiVersion, kind } = GOLDEN;
  fc.assert(
    fc.property(workloadRecords("shop"), (records) => {
      for (const { workloads } of reportParts(records)) {
        const stored = JSON.parse(JSON.stringify({ apiVersion, kind, metadata, workloads }));
        const report = parseRecommendationReport(stored);
        assert.deepEqual(report, stored);
        // What is made of it again is the same text: nothing changes by being read and written.
        const again = reportParts(recordsOf([report], "shop")).map((part) => part.workloads);
        assert.deepEqual(JSON.parse(JSON.stringify(again.flat())), stored.workloads);
      }
    }),
  );
});

Deno.test("recommendationReportListWatch() lists a namespace's, without entries it can't read", async () => {
  const [first, second] = GOLDEN.workloads;
  const spoiled = { ...GOLDEN, workloads: [{ ...first, status: "Lost" }, second, null] };
  await using server = serveCanned(() => ({
    metadata: { resourceVersion: "9" },
    items: [spoiled, { ...GOLDEN, workloads: "none" }],
  }));
  const own = recommendationReportListWatch(server.connection, { namespace: "shop" });
  const { items } = await own.list(signal);
  assert.deepEqual(items.map(({ workloads }) => workloads), [[second], []]);
  assert.equal(
    server.requests[0]?.path,
    "/apis/optipod.io/v1alpha1/namespaces/shop/recommendationreports",
  );
});

Deno.test("createReportStore() makes a report, and applies the whole of it over the version that it replaces", async () => {
  await using server = serveCanned(() => GOLDEN);
  const store = createReportStore(server.connection);
  const { workloads } = GOLDEN;
  const report = { namespace: "shop", name: "recommendations-1", workloads };
  assert.deepEqual(await store.apply(report), GOLDEN);
  await store.apply({ ...report, resourceVersion: "4712" });
  const [made, replaced] = server.requests;
  assert.deepEqual([made?.method, made?.path, made?.query], ["POST", COLLECTION, {
    fieldManager: "mbcas-controller",
  }]);
  assert.deepEqual([replaced?.method, replaced?.path, replaced?.query], ["PATCH", OBJECT, {
    fieldManager: "mbcas-controller",
    force: "true",
  }]);
  assert.equal(replaced?.headers.get("content-type"), "application/apply-patch+yaml");
  const { name, namespace, labels } = GOLDEN.metadata;
  const { apiVersion, kind } = GOLDEN;
  assert.deepEqual(made?.body, {
    apiVersion,
    kind,
    metadata: { namespace, name, labels },
    workloads,
  });
  assert.deepEqual(replaced?.body, {
    apiVersion,
    kind,
    metadata: { namespace, name, labels, resourceVersion: "4712" },
    workloads,
  });
});

Deno.test("createReportStore() lists what there is in a namespace now", async () => {
  await using server = serveCanned(() => ({ items: [GOLDEN] }));
  assert.deepEqual(await createReportStore(server.connection).list("shop"), [GOLDEN]);
  assert.deepEqual([server.requests[0]?.method, server.requests[0]?.path], ["GET", COLLECTION]);
});

Deno.test("createReportStore() deletes by UID and version, and passes refusals on", async () => {
  let refuse = false;
  await using server = serveCanned(() => refuse ? statusAnswer(403, { reason: "Forbidden" }) : {});
  const store = createReportStore(server.connection);
  await store.remove(GOLDEN);
  const [removed] = server.requests;
  assert.deepEqual([removed?.method, removed?.path], ["DELETE", OBJECT]);
  assert.partialDeepStrictEqual(removed?.body, {
    preconditions: {
      uid: GOLDEN.metadata.uid,
      resourceVersion: GOLDEN.metadata.resourceVersion,
    },
  });
  refuse = true;
  const report = { namespace: "shop", name: "recommendations-1", workloads: [] };
  await assert.rejects(store.remove(GOLDEN), { status: 403 });
  await assert.rejects(store.apply(report), { status: 403 });
});
