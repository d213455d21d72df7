/**
 * Asks about pods at a steady rate, whether answers come or not, and lets pods come and go as a cluster
 * does.
 *
 * @module
 */
import { systemClock as clock } from "../../../adapters/system_clock.ts";
import type { AdmissionRequest } from "../../../shared/admission/admission_review.ts";
import type { JSONPatchOperation } from "../../../shared/admission/json_patch.ts";
import { podRequest, storedPod } from "../../../tests/fixtures/placement/placement_caches.ts";
import type { BenchLeader } from "./leader.ts";

/** Where pods are asked about. */
export const ROUTE = "/mutate/pods";

/** How much. */
export interface Load {
  readonly seconds: number;
  readonly rate: number;
  /** Pods of the workload at the same time: the oldest goes when there would be more. */
  readonly pods: number;
  /** Begins the names of its pods and requests: no two loads have the same. */
  readonly name: string;
}

/** Latencies and answers of a load. */
export interface LoadFigures {
  /** From the moment at which a request was to be sent to its answer, ms. */
  readonly tookMs: readonly number[];
  /** Answers without a class, and requests without an answer. */
  readonly faults: readonly string[];
  /** Pods for spot nodes. */
  readonly spot: number;
}

/** Runs the load to its end. */
export async function runLoad(
  { client, put, remove }: BenchLeader,
  { seconds, rate, pods, name }: Load,
): Promise<LoadFigures> {
  const tookMs: number[] = [];
  const faults: string[] = [];
  const living: ReturnType<typeof storedPod>[] = [];
  let spot = 0;

  async function admit(number: number, dueMs: number): Promise<void> {
    const request = podRequest(`${name}-${number}`, { spec: { containers: CONTAINERS } });
    const { status, text } = await client.post(reviewOf(request), ROUTE);
    tookMs.push(clock.monotonic() - dueMs);
    const patch = status === 200 ? patchOf(text) : undefined;
    if (patch === undefined) return void faults.push(`${status} ${text.slice(0, 200)}`);
    const pod = storedPod(request, { name: `web-5f-${name}-${number}`, patch });
    if (pod.metadata.labels["spotalis.io/capacity"] === "spot") spot++;
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
  return { tookMs, faults, spot };
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
