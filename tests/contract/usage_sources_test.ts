import { createCustomUsageClient } from "../../adapters/custom_usage_client.ts";
import { createRangeQueries } from "../../adapters/prometheus/range_queries.ts";
import type { UsageProblem, UsageSource } from "../../controller/rightsizing/ports.ts";
import { createCustomUsageSource } from "../../controller/rightsizing/sources/custom_usage.ts";
import { createPrometheusUsageSource } from "../../controller/rightsizing/sources/prometheus_usage.ts";
import type { CannedServer } from "../fixtures/canned_server.ts";
import {
  serveCustomUsage,
  servePrometheusStandIn,
} from "../fixtures/rightsizing/usage_stand_ins.ts";
import { usageSourceContract, type UsageSourceHarness } from "./usage_source_contract.ts";
import { createUsageAnswers } from "../fixtures/rightsizing/usage_answers.ts";
import {
  SCENE,
  SCENE_MINUTES,
  SCENE_STEP_MS,
  SCENE_WINDOW_MS,
  SCENE_WORKLOAD,
  sceneMoments,
  usesAt,
} from "./support/usage_scene.ts";
import { UsageSampler } from "../../controller/rightsizing/sources/usage_sampler.ts";
import { silentLog } from "../../shared/log.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";

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
        const workload = { ...SCENE_WORKLOAD, uid };
        return { workload, containers: ["app", "proxy"], windowMs: SCENE_WINDOW_MS };
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
