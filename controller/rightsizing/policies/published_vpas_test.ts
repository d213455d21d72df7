import assert from "node:assert/strict";
import { createObjectStore } from "../../../lab/simulation/api/object_store.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { createPermits } from "../../../shared/control/permits.ts";
import { silentLog } from "../../../shared/log.ts";
import { seededRandom } from "../../../shared/random.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { notedVPAs, recordedAppliers } from "../../../tests/fixtures/rightsizing/recorded_ports.ts";
import {
  autoPolicy,
  NOW_MS,
  recommendation,
} from "../../../tests/fixtures/rightsizing/rightsizing_snapshot.ts";
import {
  reconciledAs,
  recordOf,
  storedPolicy,
} from "../../../tests/fixtures/rightsizing/workload_records.ts";
import { sampleVPA, sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import type { RightsizingEvent } from "../ports.ts";
import { collectGarbage } from "./garbage_collection.ts";
import type { CycleOutcome } from "./policy_cycle.ts";
import { PublishedVPAs } from "./published_vpas.ts";

const NAME = "optipod-deployment-web";
const GOING = new AbortController().signal;
const permits = createPermits(() => 1);

const policy = (publishVPA = true): StoredPolicy =>
  storedPolicy("all", { updateStrategy: autoPolicy({ publishVPA }).updateStrategy });

function reconciledWith(
  { cpu = 150, names = ["web"] }: { readonly cpu?: number; readonly names?: readonly string[] } =
    {},
): CycleOutcome["reconciled"] {
  const recommendations = cpu === 0 ? [] : [recommendation({ cpu })];
  return names.map((name) => reconciledAs(name, { record: { recommendations } }));
}

function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const { tables: { VerticalPodAutoscaler: table } } = createObjectStore({
    clock,
    random: seededRandom(1),
  });
  const publisher = notedVPAs(table);
  const events: RightsizingEvent[] = [];
  const copy = { follows: true, get: table.get, all: table.all };
  const vpas = new PublishedVPAs({
    cache: {
      get: (key) => copy.follows ? table.get(key) : undefined,
      all: () => copy.follows ? table.all() : [],
    },
    publisher,
    events: { emit: (event) => void events.push(event) },
    log: silentLog,
  });
  const publish = (reconciled = reconciledWith()): Promise<void> =>
    vpas.publish(policy(), { reconciled, permits, signal: GOING });
  return { table, publisher, events, copy, vpas, publish };
}

pure("publish() writes nothing for a hundredth, however often it adds up", async () => {
  const { publisher, publish } = stage();
  await publish(reconciledWith({ cpu: 1000 }));
  publisher.asked.length = 0;
  for (const cpu of [1005, 1009, 991]) await publish(reconciledWith({ cpu }));
  assert.deepEqual(publisher.asked, []);
  await publish(reconciledWith({ cpu: 1010 }));
  await publish(reconciledWith({ cpu: 1001 }));
  assert.deepEqual(publisher.asked, [`recommend ${NAME} app=1010m,96Mi`]);
});

pure("publish() reports a problem again that was solved meanwhile", async () => {
  const { publisher, events, vpas, publish } = stage();
  const refused = new ApiError(403, "Forbidden", "no");
  const failing = async (): Promise<void> => {
    publisher.refusal = refused;
    await publish(reconciledWith({ cpu: 100 + 100 * events.length }));
    await publish(reconciledWith({ cpu: 100 + 100 * events.length }));
    publisher.refusal = undefined;
  };
  await failing();
  assert.equal(events.length, 1);
  await publish();
  await failing();
  assert.equal(events.length, 2);
  await vpas.keepOnly(() => false);
  await failing();
  assert.equal(events.length, 3);
});

pure("publish() publishes nothing without policy or recommendation", async () => {
  const { publisher, vpas, publish } = stage();
  await vpas.publish(policy(false), { reconciled: reconciledWith(), permits, signal: GOING });
  await vpas.publish(policy(), {
    reconciled: reconciledWith(),
    permits,
    signal: AbortSignal.abort(),
  });
  await publish(reconciledWith({ cpu: 0 }));
  assert.deepEqual(publisher.asked, []);
});

pure("publish() adopts the VPA of an earlier process, and recreates deleted ones", async () => {
  const { publisher, table, publish } = stage();
  table.create(sampleVPA("Off", {
    metadata: { name: NAME, namespace: "shop", uid: "", resourceVersion: "" },
    published: true,
  }));
  await publish();
  assert.deepEqual(publisher.asked, [`recommend ${NAME} app=150m,96Mi`]);
  table.remove(`shop/${NAME}`);
  publisher.asked.length = 0;
  await publish();
  assert.deepEqual(publisher.asked, [`create ${NAME}`, `recommend ${NAME} app=150m,96Mi`]);
});

pure("publish() leaves a VPA of another owner alone, and reports it once", async () => {
  const { publisher, events, table, publish } = stage();
  const metadata = { name: NAME, namespace: "shop", uid: "", resourceVersion: "" };
  table.create(sampleVPA("Off", { metadata }));
  await publish();
  await publish();
  assert.deepEqual(publisher.asked, []);
  const reported = events.map(({ about: { kind }, reason }) => [kind, reason]);
  assert.deepEqual(reported, [["OptimizationPolicy", "UpdateFailed"]]);
  const about = `VPANotPublished: Deployment/shop/web: VPA shop/${NAME} `;
  assert.ok(events[0]?.message.startsWith(about), events[0]?.message);
});

pure("publish() trusts the server where the copy is late", async () => {
  const { publisher, events, copy, publish } = stage();
  copy.follows = false;
  await publish();
  publisher.refusal = new ApiError(409, "AlreadyExists", "already exists");
  await publish();
  assert.equal(events.length, 0);
  await publish(reconciledWith({ names: ["db"] }));
  assert.match(events[0]?.message ?? "", /Deployment\/shop\/db: already exists;/);
});

pure("publish() asks once while the kind is not defined", async () => {
  const { publisher, events, publish } = stage();
  publisher.refusal = new ApiError(404, "NotFound", "the server could not find it");
  const reconciled = reconciledWith({ names: ["web", "db", "job"] });
  await publish(reconciled);
  await publish(reconciled);
  assert.deepEqual(publisher.asked, [`create ${NAME}`, `create ${NAME}`]);
  assert.equal(events.length, 1);
  assert.match(events[0]?.message ?? "", /^VPANotPublished: .* VerticalPodAutoscalers/);
  publisher.refusal = undefined;
  publisher.asked.length = 0;
  await publish(reconciled);
  assert.equal(publisher.asked.length, 6);
});

pure("keepOnly() deletes published VPAs, and no others", async () => {
  const { publisher, table, vpas, publish } = stage();
  await publish(reconciledWith({ names: ["web", "db"] }));
  table.create(sampleVPA("Off"));
  publisher.asked.length = 0;
  await vpas.keepOnly((key) => key === "Deployment/shop/db");
  assert.deepEqual(publisher.asked, [`remove ${NAME}`]);
  const names = table.all().map(({ metadata }) => metadata.name);
  assert.deepEqual(names.toSorted(), ["optipod-deployment-db", "web-vpa"]);
});

pure("keepOnly() goes on where one can't be deleted, and tries again", async () => {
  const { publisher, table, vpas, publish } = stage();
  await publish(reconciledWith({ names: ["web", "db"] }));
  for (const status of [403, 404, 409, 500]) {
    publisher.refusal = new ApiError(status, "", "no");
    publisher.asked.length = 0;
    await vpas.keepOnly(() => false);
    assert.equal(publisher.asked.length, 2, `${status}`);
  }
  publisher.refusal = undefined;
  await vpas.keepOnly(() => false);
  assert.deepEqual(table.all(), []);
});

interface Choice {
  readonly isThere?: boolean;
  readonly annotateWorkloads?: boolean;
  readonly minutesAgo?: number;
}

/** The kept objects of Deployment `web` of policy `shop/all`. */
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
  const disabled = storedPolicy("all", { updateStrategy, mode: "Disabled" });
  const heavier = storedPolicy("heavier", { weight: 500 });
  const slow = storedPolicy("all", { intervalMs: 3_600_000 });
  const rows: readonly (readonly [string, readonly StoredPolicy[], Choice, string])[] = [
    ["a policy", [all], {}, "record, annotations"],
    ["no policy", [], {}, ""],
    ["of other kinds", [storedPolicy("all", { selector: { workloadKinds: [] } })], {}, ""],
    ["of another policy", [other], {}, "record"],
    ["annotations off", [all], { annotateWorkloads: false }, "record"],
    ["disabled", [storedPolicy("all", { mode: "Disabled" })], {}, "record, annotations"],
    // A policy that can't be read may publish it.
    ["unreadable", [storedPolicy("all", null)], {}, "record, VPA, annotations"],
    ["another is unreadable", [storedPolicy("other", null)], {}, ""],
    ["publishing", [publishing], {}, "record, VPA, annotations"],
    ["publishing, disabled", [disabled], {}, "record, annotations"],
    ["publishing, outweighed", [publishing, heavier], {}, "record, annotations"],
    // A deleted workload may come back under its name.
    ["deleted", [publishing], { isThere: false }, ""],
    ["deleted for less than 15 min", [all], { isThere: false, minutesAgo: 14 }, "record"],
    ["deleted for 15 min", [all], { isThere: false, minutesAgo: 15 }, ""],
    ["deleted, of a slow policy", [slow], { isThere: false, minutesAgo: 69 }, "record"],
    ["deleted with its policy", [], { isThere: false, minutesAgo: 1 }, ""],
  ];
  for (const [what, policies, choice, expected] of rows) {
    assert.equal(await keptWith(policies, choice), expected, what);
  }
});
