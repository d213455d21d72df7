import fc from "fast-check";
import assert from "node:assert/strict";
import { createCustomUsageClient } from "../../adapters/custom_usage_client.ts";
import { createRangeQueries } from "../../adapters/prometheus/range_queries.ts";
import type { UsageProblem, UsageSource } from "../../controller/rightsizing/ports.ts";
import { createCustomUsageSource } from "../../controller/rightsizing/sources/custom_usage.ts";
import { createPrometheusUsageSource } from "../../controller/rightsizing/sources/prometheus_usage.ts";
import { UsageSampler } from "../../controller/rightsizing/sources/usage_sampler.ts";
import { createSimulatedAPI, type SimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { createInformer } from "../../shared/control/informer.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import type { CannedServer } from "../fixtures/canned_server.ts";
import { pure } from "../fixtures/pure.ts";
import { createUsageAnswers } from "../fixtures/rightsizing/usage_answers.ts";
import {
  serveCustomUsage,
  servePrometheusStandIn,
} from "../fixtures/rightsizing/usage_stand_ins.ts";
import { samplePod } from "./support/sample_objects.ts";
import {
  SCENE,
  SCENE_MINUTES,
  SCENE_STEP_MS,
  SCENE_WINDOW_MS,
  SCENE_WORKLOAD,
  sceneMoments,
  usesAt,
} from "./support/usage_scene.ts";
import { usageSourceContract, type UsageSourceHarness } from "./usage_source_contract.ts";

const SERVED_END_MS = Date.UTC(2026, 0, 1) + 781;

function harness(server: CannedServer, subject: UsageSource): UsageSourceHarness {
  let running = true;
  const stop = async (): Promise<void> => {
    if (running) await server[Symbol.asyncDispose]();
    running = false;
  };
  return { subject, endMs: SERVED_END_MS, stop, close: stop };
}

usageSourceContract("createPrometheusUsageSource() on a stand-in", () => {
  const server = servePrometheusStandIn(SERVED_END_MS);
  const subject = createPrometheusUsageSource({
    queries: createRangeQueries(),
    server: () => server.url,
    matchers: () => [],
  });
  return Promise.resolve(harness(server, subject));
});

usageSourceContract("createPrometheusUsageSource() in small parts", () => {
  const server = servePrometheusStandIn(SERVED_END_MS);
  const subject = createPrometheusUsageSource({
    queries: createRangeQueries({ mostBytes: 4000 }),
    server: () => server.url,
    matchers: () => [],
  });
  return Promise.resolve(harness(server, subject));
});

usageSourceContract("createCustomUsageSource()", () => {
  const server = serveCustomUsage(SERVED_END_MS);
  const subject = createCustomUsageSource(createCustomUsageClient({ url: server.url }));
  return Promise.resolve(harness(server, subject));
});

const END_MS = Date.UTC(2026, 0, 1);

usageSourceContract("createUsageAnswers()", () => {
  const subject = createUsageAnswers();
  for (const timeMs of sceneMoments(END_MS)) {
    for (const { namespace, uid, container, millicores, bytes } of usesAt(timeMs, END_MS)) {
      if (uid !== SCENE_WORKLOAD.uid) continue;
      const reported = subject.of({ namespace, ...SCENE_WORKLOAD }, container);
      reported.cpu.push([timeMs, millicores]);
      reported.memory.push([timeMs, bytes]);
    }
  }
  return {
    subject,
    endMs: END_MS,
    stop: () => {
      subject.problem = { problem: "unreachable", message: "connection refused" };
      return Promise.resolve();
    },
  };
});

const GONE: UsageProblem = { problem: "unreachable", message: "connection refused" };

usageSourceContract("UsageSampler()", async () => {
  const lengthMs = SCENE_MINUTES * 60_000;
  const clock = createVirtualClock({ wallStart: END_MS - lengthMs });
  const end = new AbortController();
  let up = true;
  const pods = [...new Map(SCENE.map((use) => [`${use.namespace}/${use.pod}`, use])).values()];
  const subject = new UsageSampler({
    metrics: {
      read() {
        if (!up) return Promise.resolve(GONE);
        const timeMs = Math.floor(clock.wall() / SCENE_STEP_MS) * SCENE_STEP_MS;
        const uses = usesAt(timeMs, END_MS);
        const read = pods.map(({ namespace, pod }) => ({
          namespace,
          pod,
          timeMs,
          containers: uses.filter((use) => use.pod === pod && use.namespace === namespace)
            .map(({ container: name, millicores, bytes }) => ({
              name,
              cpu: millicores,
              memory: bytes,
            })),
        }));
        return Promise.resolve({ pods: read, unreadable: 0 });
      },
    },
    owners: {
      ofReading: () => ({ namespace, name }) => {
        const uid = pods.find(({ pod, ...at }) => pod === name && at.namespace === namespace)?.uid;
        if (uid === undefined) return undefined;
        return { uid, containers: ["app", "proxy"], windowMs: SCENE_WINDOW_MS };
      },
      isWanted: () => true,
      workloadUIDs: () => undefined,
    },
    store: {
      list: () => Promise.resolve([]),
      apply: () => Promise.resolve(),
      remove: () => Promise.resolve(),
    },
    clock,
    log: silentLog,
    intervalMs: () => 30_000,
    slots: 16,
  });
  const running = subject.run(end.signal);
  await clock.runUntil(lengthMs);
  return {
    subject,
    endMs: END_MS,
    async stop() {
      up = false;
      await clock.runUntil(clock.monotonic() + 300_000);
    },
    async close() {
      end.abort();
      await clock.runUntil(clock.monotonic());
      await running;
    },
  };
});

interface Write {
  readonly act: "create" | "change" | "move" | "remove";
  readonly name: string;
}

type Act =
  | Write
  | { readonly act: "stop" | "start" | "close" | "compact" }
  | { readonly act: "fail"; readonly verb: "list" | "watch"; readonly status: number };

const name = fc.constantFrom("a", "b", "c", "d");
const step: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      act: fc.constantFrom(
        "create" as const,
        "change" as const,
        "move" as const,
        "remove" as const,
      ),
      name,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constantFrom("stop" as const, "start" as const, "close" as const, "compact" as const),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant("fail" as const),
      verb: fc.constantFrom("list" as const, "watch" as const),
      status: fc.constantFrom(0, 403, 410, 429, 500),
    }),
  },
);
const timed = fc.record({ step, afterMs: fc.integer({ min: 0, max: 4000 }) });

function write(pods: SimulatedAPI["store"]["tables"]["Pod"], { act, name }: Write): void {
  const key = `shop/${name}`;
  const known = pods.get(key) !== undefined;
  if (act === "create" && !known) pods.create(samplePod(name));
  if (act === "remove" && known) pods.remove(key);
  if (act === "change" && known) {
    pods.modify(key, (pod) => ({ ...pod, priority: pod.priority + 1 }));
  }
  if (act === "move" && known) {
    pods.modify(key, (pod) => ({
      ...pod,
      nodeName: pod.nodeName === "node-1" ? "node-2" : "node-1",
    }));
  }
}

function perform(api: SimulatedAPI, step: Act): void {
  switch (step.act) {
    case "stop":
      return api.stop();
    case "start":
      return api.start();
    case "close":
      return api.closeWatches();
    case "compact":
      return api.compact();
    case "fail":
      return api.failNext({ ...step, kind: "Pod" });
    default:
      return write(api.store.tables.Pod, step);
  }
}

pure("createInformer() equals the store once things are quiet, whatever was before", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(timed, { maxLength: 40 }), fc.integer(), async (steps, seed) => {
      const clock = createVirtualClock({ wallStart: 0 });
      const random = seededRandom(seed);
      const api = createSimulatedAPI({ clock, random, latencyMs: 40 });
      const informer = createInformer({
        source: api.listWatch("Pod", { nodeName: "node-1" }),
        clock,
        random,
        log: silentLog,
        name: "pods",
      });
      // What a level-based subscriber knows: it reads each key when it receives it.
      const known = new Map<string, Pod | undefined>();
      informer.subscribe((key) => known.set(key, informer.get(key)));
      const stop = new AbortController();
      const run = informer.run(stop.signal);
      for (const { step, afterMs } of steps) {
        await clock.runUntil(clock.monotonic() + afterMs);
        perform(api, step);
      }
      api.start();
      await clock.runUntil(clock.monotonic() + 300_000);

      const wanted = new Map(
        api.store.tables.Pod.all()
          .filter(({ nodeName }) => nodeName === "node-1")
          .map((pod) => [objectKey(pod.metadata), pod]),
      );
      assert.equal(informer.synced, true);
      assert.deepEqual(
        new Map([...informer.all()].map((pod) => [objectKey(pod.metadata), pod])),
        wanted,
      );
      for (const [key, pod] of known) assert.deepEqual(pod, wanted.get(key));
      for (const key of wanted.keys()) assert.ok(known.has(key));
      stop.abort();
      await clock.runUntil(clock.monotonic() + 1);
      await run;
    }),
  );
});
