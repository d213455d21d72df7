import assert from "node:assert/strict";
import { ApiError } from "../../../shared/api/api_error.ts";
import { createPermits } from "../../../shared/control/permits.ts";
import { silentLog } from "../../../shared/log.ts";
import { seededRandom } from "../../../shared/random.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";
import { createObjectStore } from "../../../lab/simulation/api/object_store.ts";
import { createVirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { notedVPAs } from "../../../tests/fixtures/rightsizing/noted_vpas.ts";
import {
  autoPolicy,
  recommendation,
  rightsizingFacts,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { sampleVPA } from "../../../tests/fixtures/sample_workloads.ts";
import type { RightsizingEvent } from "../ports.ts";
import type { CycleOutcome } from "./policy_cycle.ts";
import { createPublishedVPAs } from "./published_vpas.ts";

function test(name: string, fn: () => Promise<void>): void {
  Deno.test({ name, permissions: "none", fn });
}

const { workload: web } = rightsizingFacts();
const NAME = "optipod-deployment-web";
const GOING = new AbortController().signal;
const permits = createPermits(() => 1);

const policy = (publishVPA = true): StoredPolicy => ({
  metadata: { name: "all", namespace: "shop", uid: "p", resourceVersion: "1", generation: 1 },
  spec: autoPolicy({ publishVPA }),
  faults: [],
  status: {},
});

/** What a cycle has come to for these workloads. */
function lookedAt(
  { cpu = 150, names = ["web"] }: { readonly cpu?: number; readonly names?: readonly string[] } =
    {},
): CycleOutcome["reconciled"] {
  return names.map((name) => ({
    workload: { ...web, metadata: { ...web.metadata, name } },
    outcome: {
      record: {
        workload: { kind: "Deployment", namespace: "shop", name },
        policy: { namespace: "shop", name: "all" },
        status: "Recommended",
        recommendations: cpu === 0 ? [] : [recommendation({ cpu })],
        inForce: [],
      },
      metricsMissing: false,
      recommends: cpu !== 0,
      difference: 0,
      events: [],
    },
  }));
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
  const vpas = createPublishedVPAs({
    copy: {
      get: (key) => copy.follows ? table.get(key) : undefined,
      all: () => copy.follows ? table.all() : [],
    },
    publisher,
    events: { emit: (event) => void events.push(event) },
    log: silentLog,
  });
  const publish = (reconciled = lookedAt()): Promise<void> =>
    vpas.publish(policy(), { reconciled, permits, signal: GOING });
  return { table, publisher, events, copy, vpas, publish };
}

test("publish() makes a VPA for each workload, and writes it again when something else is recommended", async () => {
  const { publisher, events, publish } = stage();
  await publish();
  await publish();
  assert.deepEqual(publisher.asked, [`create ${NAME}`, `recommend ${NAME} app=150m,96Mi`]);
  publisher.asked.length = 0;
  await publish(lookedAt({ cpu: 300 }));
  assert.deepEqual(publisher.asked, [`recommend ${NAME} app=300m,96Mi`]);
  assert.deepEqual(events, []);
});

test("publish() writes nothing for less than a hundredth, however often it adds up from the last write", async () => {
  const { publisher, publish } = stage();
  await publish(lookedAt({ cpu: 1000 }));
  publisher.asked.length = 0;
  for (const cpu of [1005, 1009, 991]) await publish(lookedAt({ cpu }));
  assert.deepEqual(publisher.asked, []);
  await publish(lookedAt({ cpu: 1010 }));
  await publish(lookedAt({ cpu: 1001 }));
  assert.deepEqual(publisher.asked, [`recommend ${NAME} app=1010m,96Mi`]);
});

test("publish() writes as many at the same time as there are permits", async () => {
  const { publisher, vpas } = stage();
  const { create } = publisher;
  let [now, most] = [0, 0];
  publisher.create = async (vpa) => {
    most = Math.max(most, ++now);
    await Promise.resolve();
    now--;
    return await create.call(publisher, vpa);
  };
  const reconciled = lookedAt({ names: ["a", "b", "c", "d", "e"] });
  await vpas.publish(policy(), { reconciled, permits: createPermits(() => 3), signal: GOING });
  assert.equal(most, 3);
  assert.equal(publisher.asked.length, 10);
});

test("publish() reports a problem again that was solved meanwhile, and forgets those of workloads that are gone", async () => {
  const { publisher, events, vpas, publish } = stage();
  const refused = new ApiError(403, "Forbidden", "no");
  const failing = async (): Promise<void> => {
    publisher.refusal = refused;
    await publish(lookedAt({ cpu: 100 + 100 * events.length }));
    await publish(lookedAt({ cpu: 100 + 100 * events.length }));
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

test("publish() publishes nothing where the policy wants nothing, or there is nothing to tell", async () => {
  const { publisher, vpas, publish } = stage();
  await vpas.publish(policy(false), { reconciled: lookedAt(), permits, signal: GOING });
  await vpas.publish(policy(), { reconciled: lookedAt(), permits, signal: AbortSignal.abort() });
  await publish(lookedAt({ cpu: 0 }));
  assert.deepEqual(publisher.asked, []);
});

test("publish() goes on with what an earlier process has made, and creates again what was deleted", async () => {
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

test("publish() leaves a VPA of another owner alone, and reports it once", async () => {
  const { publisher, events, table, publish } = stage();
  const metadata = { name: NAME, namespace: "shop", uid: "", resourceVersion: "" };
  table.create(sampleVPA("Off", { metadata }));
  await publish();
  await publish();
  assert.deepEqual(publisher.asked, []);
  assert.deepEqual(events.map(({ about: { kind }, reason }) => [kind, reason]), [
    ["OptimizationPolicy", "UpdateFailed"],
  ]);
  const about = `VPANotPublished: Deployment/shop/web: VPA shop/${NAME} `;
  assert.ok(events[0]?.message.startsWith(about), events[0]?.message);
});

test("publish() trusts the server where the copy is late: its own one is no problem, another's is", async () => {
  const { publisher, events, copy, publish } = stage();
  copy.follows = false;
  await publish();
  publisher.refusal = new ApiError(409, "AlreadyExists", "already exists");
  await publish();
  assert.equal(events.length, 0);
  await publish(lookedAt({ names: ["db"] }));
  assert.match(events[0]?.message ?? "", /Deployment\/shop\/db: already exists;/);
});

test("publish() asks once where the kind is not defined, and publishes all once it is", async () => {
  const { publisher, events, publish } = stage();
  publisher.refusal = new ApiError(404, "NotFound", "the server could not find it");
  const reconciled = lookedAt({ names: ["web", "db", "job"] });
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

test("publish() reports a refusal with the server's message, and retries", async () => {
  const { publisher, events, publish } = stage();
  await publish();
  publisher.refusal = new ApiError(403, "Forbidden", "forbidden");
  await publish(lookedAt({ cpu: 300 }));
  assert.match(events[0]?.message ?? "", /: forbidden;/);
  publisher.refusal = undefined;
  await publish(lookedAt({ cpu: 300 }));
  assert.equal(publisher.asked.at(-1), `recommend ${NAME} app=300m,96Mi`);
});

test("keepOnly() takes away its own ones, and nobody else's", async () => {
  const { publisher, table, vpas, publish } = stage();
  await publish(lookedAt({ names: ["web", "db"] }));
  table.create(sampleVPA("Off"));
  publisher.asked.length = 0;
  await vpas.keepOnly((key) => key === "Deployment/shop/db");
  assert.deepEqual(publisher.asked, [`remove ${NAME}`]);
  assert.deepEqual(table.all().map(({ metadata }) => metadata.name).toSorted(), [
    "optipod-deployment-db",
    "web-vpa",
  ]);
});

test("keepOnly() goes on where one can't be taken away, and tries again", async () => {
  const { publisher, table, vpas, publish } = stage();
  await publish(lookedAt({ names: ["web", "db"] }));
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
