/**
 * Admissions of pods through the leader's webhook: `deno task bench:webhook`. The client runs with the
 * leader's flags: its own pauses, of several milliseconds else, would count as the leader's.
 *
 * @module
 */
import { Command } from "commander";
import { quantile } from "../../simulation/statistics.ts";
import { benchFlags, goal, printResult, wholeNumber } from "../bench.ts";
import { type BenchLeader, ROUTE, startLeader } from "./leader.ts";
import { systemClock as clock } from "../../../adapters/system_clock.ts";
import type { AdmissionRequest } from "../../../shared/admission/admission_review.ts";
import type { JSONPatchOperation } from "../../../shared/admission/json_patch.ts";
import { podRequest, storedPod } from "../../../tests/fixtures/placement/placement_caches.ts";

interface Load {
  readonly seconds: number;
  readonly rate: number;
  /** Pods of the workload at the same time: the oldest goes when there would be more. */
  readonly pods: number;
  /** Begins the names of its pods and requests: no two loads have the same. */
  readonly name: string;
}

interface LoadFigures {
  /** From the moment at which a request was to be sent to its answer, ms. */
  readonly tookMs: readonly number[];
  /** Answers without a class, and requests without an answer. */
  readonly faults: readonly string[];
}

async function runLoad(
  { client, put, remove }: BenchLeader,
  { seconds, rate, pods, name }: Load,
): Promise<LoadFigures> {
  const tookMs: number[] = [];
  const faults: string[] = [];
  const living: ReturnType<typeof storedPod>[] = [];

  async function admit(number: number, dueMs: number): Promise<void> {
    const request = podRequest(`${name}-${number}`, { spec: { containers: CONTAINERS } });
    const { status, text } = await client.post(reviewOf(request), ROUTE);
    tookMs.push(clock.monotonic() - dueMs);
    const patch = status === 200 ? patchOf(text) : undefined;
    if (patch === undefined) return void faults.push(`${status} ${text.slice(0, 200)}`);
    const pod = storedPod(request, { name: `web-5f-${name}-${number}`, patch });
    living.push(pod);
    put(pod);
    const oldest = living.length > pods ? living.shift() : undefined;
    if (oldest !== undefined) remove(oldest);
  }

  const beganMs = clock.monotonic();
  const admissions = seconds * rate;
  const under: Promise<void>[] = [];
  for (let number = 0; number < admissions; number++) {
    const dueMs = beganMs + number * 1000 / rate;
    await clock.sleep(Math.max(0, dueMs - clock.monotonic()));
    under.push(admit(number, dueMs).catch((error) => void faults.push(String(error))));
  }
  await Promise.all(under);
  return { tookMs, faults };
}

/** As large as reviews usually are. */
const CONTAINERS = [{ name: "web", env: [{ name: "FILLER", value: "x".repeat(8000) }] }];

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

/** Until V8 has compiled what is run often, s. */
const WARM_UP_S = 20;
/** Number of pods in the workload with pods that come and go. */
const PODS = 500;

const { json, seconds, rate } = benchFlags<{ seconds: number; rate: number }>(
  new Command("bench:webhook")
    .description("Admissions over TLS on 127.0.0.1. Exits with 1 when a goal is missed.")
    .option("--seconds <n>", "how long", wholeNumber, 60)
    .option("--rate <n>", "admissions a second", wholeNumber, 200),
);
using leader = await startLeader(PODS);
// Connections, compiled code and all pods are there before memory is looked at.
await runLoad(leader, { seconds: WARM_UP_S, rate, pods: PODS, name: "first" });
const before = await leader.memory();
const { tookMs, faults } = await runLoad(leader, {
  ...{ seconds, rate, pods: PODS, name: "second" },
});
const after = await leader.memory();
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
