import { UsageSampler } from "../../controller/rightsizing/sources/usage_sampler.ts";
import type { UsageProblem } from "../../controller/rightsizing/ports.ts";
import { silentLog } from "../../shared/log.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import {
  SCENE,
  SCENE_MINUTES,
  SCENE_STEP_MS,
  SCENE_WINDOW_MS,
  SCENE_WORKLOAD,
  usesAt,
} from "./support/usage_scene.ts";
import { usageSourceContract } from "./usage_source_contract.ts";

const END_MS = Date.UTC(2026, 0, 1);
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
    settle: (promise) => promise,
    async close() {
      end.abort();
      await clock.runUntil(clock.monotonic());
      await running;
    },
  };
});
