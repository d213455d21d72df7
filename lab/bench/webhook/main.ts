/**
 * Admissions of pods through the leader's webhook: `deno task bench:webhook`. The client runs with the
 * leader's flags: its own pauses, of several milliseconds else, would count as the leader's.
 *
 * @module
 */
import { Command } from "commander";
import { systemClock as clock } from "../../../adapters/system_clock.ts";
import type { AdmissionRequest } from "../../../shared/admission/admission_review.ts";
import type { JSONPatchOperation } from "../../../shared/admission/json_patch.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { podRequest, storedPod } from "../../../tests/fixtures/placement/placement_caches.ts";
import {
  certificateChain,
  createWebhookClient,
  SERVICE_NAME,
} from "../../../tests/fixtures/webhook/webhook_client.ts";
import { quantile } from "../../simulation/statistics.ts";
import { startThread } from "../../task/thread.ts";
import { benchFlags, goal, type MemoryUse, printResult, wholeNumber } from "../bench.ts";
import type { ToLeader } from "./leader.ts";

/** Until V8 has compiled what is run often, s. */
const WARM_UP_S = 20;
/** Pods of the workload at the same time: the oldest goes when there would be more. */
const PODS = 500;
/** As large as reviews usually are. */
const CONTAINERS = [{ name: "web", env: [{ name: "FILLER", value: "x".repeat(8000) }] }];

const { json, seconds, rate } = benchFlags<{ seconds: number; rate: number }>(
  new Command("bench:webhook")
    .description("Admissions over TLS on 127.0.0.1. Exits with 1 when a goal is missed.")
    .option("--seconds <n>", "how long", wholeNumber, 60)
    .option("--rate <n>", "admissions a second", wholeNumber, 200),
);
const { authority, serving } = await certificateChain("bench", clock.wall());
const leader = startThread<ToLeader>(new URL("./leader.ts", import.meta.url));
using client = createWebhookClient({
  address: await leader.ask<string>({ start: serving, pods: PODS }),
  bundle: authority.cert,
  serverName: SERVICE_NAME,
  readsCertificate: false,
  connections: 32,
});

interface LoadFigures {
  /** From the moment at which a request was to be sent to its answer, ms. */
  readonly tookMs: number[];
  /** Answers without a class, and requests without an answer. */
  readonly faults: string[];
}

/** Loads for so long; no two loads have the same name, which begins those of pods and requests. */
async function runLoad(name: string, seconds: number): Promise<LoadFigures> {
  const figures: LoadFigures = { tookMs: [], faults: [] };
  const living: Pod[] = [];

  async function admit(number: number, dueMs: number): Promise<void> {
    const request = podRequest(`${name}-${number}`, { spec: { containers: CONTAINERS } });
    const { status, text } = await client.post(reviewOf(request), "/mutate/pods");
    figures.tookMs.push(clock.monotonic() - dueMs);
    const patch = status === 200 ? patchOf(text) : undefined;
    if (patch === undefined) return void figures.faults.push(`${status} ${text.slice(0, 200)}`);
    const pod = storedPod(request, { name: `web-5f-${name}-${number}`, patch });
    living.push(pod);
    leader.send({ put: pod });
    const oldest = living.length > PODS ? living.shift() : undefined;
    if (oldest !== undefined) leader.send({ remove: oldest });
  }

  const beganMs = clock.monotonic();
  const under: Promise<void>[] = [];
  for (let number = 0; number < seconds * rate; number++) {
    const dueMs = beganMs + number * 1000 / rate;
    await clock.sleep(Math.max(0, dueMs - clock.monotonic()));
    under.push(admit(number, dueMs).catch((error) => void figures.faults.push(String(error))));
  }
  await Promise.all(under);
  return figures;
}

function reviewOf({ uid, object, namespace }: AdmissionRequest): string {
  return JSON.stringify({
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid,
      kind: { group: "", version: "v1", kind: "Pod" },
      resource: { group: "", version: "v1", resource: "pods" },
      operation: "CREATE",
      namespace,
      object,
    },
  });
}

/** Undefined where the pod was left as it was sent. */
function patchOf(text: string): readonly JSONPatchOperation[] | undefined {
  const { response: { patch } } = JSON.parse(text);
  return typeof patch === "string" ? JSON.parse(atob(patch)) : undefined;
}

// Connections, compiled code and all pods are there before memory is looked at.
await runLoad("first", WARM_UP_S);
const before = await leader.ask<MemoryUse>({ memory: true });
const { tookMs, faults } = await runLoad("second", seconds);
const after = await leader.ask<MemoryUse>({ memory: true });
leader.end();
const [p50Ms = 0, p99Ms = 0, highestMs = 0] = [0.5, 0.99, 1].map((at) => quantile(tookMs, at));
printResult({
  json,
  figures: { seconds, rate, p50Ms, highestMs, before, after },
  goals: [
    goal("p99, ms", p99Ms, { most: 10 }),
    goal("answers without a class, or none", faults.length, { most: 0 }),
    // The rest may be compiled code.
    goal("memory used after / before", after.used / before.used, { most: 1.1 }),
  ],
  text: [
    `${rate} admissions a second for ${seconds} s through the leader in a thread of its own; ` +
    `p50 ${p50Ms.toFixed(1)} ms, highest ${highestMs.toFixed(1)} ms`,
    ...faults.slice(0, 1),
  ],
});
