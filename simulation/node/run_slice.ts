/**
 * The event loop of the node: from one arrival, completion or exhausted quota to the next.
 *
 * @module
 */
import type { Random } from "../../shared/random.ts";
import { type Claims, createClaims, shareByWeight } from "./contention.ts";
import { type ContainerState, holdExhausted, type PodState } from "./pod_state.ts";
import { endRequests, nextStart, startRequests } from "./request_server.ts";

/** A stretch of virtual time on a node. */
export interface Slice {
  /** Its start, ms of virtual time, and its length, ms. */
  readonly from: number;
  readonly length: number;
  readonly cores: number;
  readonly random: Random;
}

/** ms; what remains of a slice when rounding is all that remains. */
const EPSILON = 1e-9;

/** Runs one pod through a slice in which there is a core for each of its threads. */
export function runAlone(pod: PodState, slice: Slice): void {
  let done = 0;
  while (done < slice.length - EPSILON) {
    for (const container of pod.containers) {
      startRequests(container.server, slice.from + done);
      container.rate = container.heldBy === undefined ? container.server.busy : 0;
    }
    const step = timeToEvent(pod, slice.from + done, slice.length - done);
    progress(pod, step, slice, done + step);
    done += step;
  }
}

/**
 * Runs pods through a slice in which their threads may exceed the cores. The cores are divided
 * anew after each event, first among pods, then among the containers of each, by weight.
 */
export function runTogether(pods: readonly PodState[], slice: Slice): void {
  let done = 0;
  while (done < slice.length - EPSILON) {
    const now = slice.from + done;
    for (const pod of pods) {
      for (const container of pod.containers) startRequests(container.server, now);
    }
    divideCores(pods, slice.cores);
    let step = slice.length - done;
    for (const pod of pods) step = timeToEvent(pod, now, step);
    for (const pod of pods) progress(pod, step, slice, done + step);
    done += step;
  }
}

/** The time to the pod's next event, at most `limit`. */
function timeToEvent(pod: PodState, now: number, limit: number): number {
  let step = limit;
  let podRate = 0;
  for (const container of pod.containers) {
    const { server, rate } = container;
    const start = nextStart(server) - now;
    if (start < step) step = start;
    if (rate <= 0) continue;
    podRate += rate;
    const completion = (server.nextFinish - server.served) * server.busy / rate;
    if (completion < step) step = completion;
    const exhaustion = container.bandwidth.remaining / rate;
    if (exhaustion < step) step = exhaustion;
  }
  if (podRate > 0 && pod.bandwidth.remaining / podRate < step) {
    step = pod.bandwidth.remaining / podRate;
  }
  return Math.max(0, step);
}

/** Moves the pod on by `step` ms, to `done` ms after the slice's start. */
function progress(pod: PodState, step: number, slice: Slice, done: number): void {
  let podUsed = 0;
  let waiting = false;
  for (const container of pod.containers) {
    const { server, bandwidth, rate } = container;
    if (server.busy === 0) continue;
    if (step > 0) {
      bandwidth.active = true;
      pod.bandwidth.active = true;
    }
    if (rate < server.busy) {
      container.waited += step;
      waiting = true;
    }
    if (container.heldBy !== undefined) {
      container.heldBy.pending += Math.min(server.busy, slice.cores) * step;
      continue;
    }
    const used = rate * step;
    container.usage += used;
    bandwidth.remaining -= used;
    podUsed += used;
    server.served += used / server.busy;
    endRequests(server, slice.from + done);
  }
  pod.usage += podUsed;
  pod.bandwidth.remaining -= podUsed;
  if (waiting) pod.waited += step;
  if (podUsed > 0) holdExhausted(pod, slice.random);
}

/** Scratch memory of `divideCores`, grown as needed: it keeps nothing between calls. */
const scratch: { pods: Claims; containers: Claims } = {
  pods: createClaims(16),
  containers: createClaims(4),
};

function runnable(container: ContainerState): number {
  return container.heldBy === undefined ? container.server.busy : 0;
}

/** Sets each container's rate for the threads that are runnable now. */
function divideCores(pods: readonly PodState[], cores: number): void {
  if (scratch.pods.wanted.length < pods.length) scratch.pods = createClaims(2 * pods.length);
  const claims = scratch.pods;
  claims.count = pods.length;
  let total = 0;
  let index = 0;
  for (const pod of pods) {
    let wanted = 0;
    for (const container of pod.containers) {
      container.rate = runnable(container);
      wanted += container.rate;
    }
    claims.wanted[index] = wanted;
    claims.weights[index] = pod.weight;
    total += wanted;
    index++;
  }
  if (total <= cores) return;
  shareByWeight(claims, cores);
  index = 0;
  for (const pod of pods) {
    const given = claims.given[index] ?? 0;
    if (given < (claims.wanted[index] ?? 0)) divideInPod(pod.containers, given);
    index++;
  }
}

function divideInPod(containers: readonly ContainerState[], cores: number): void {
  const only = containers[0];
  if (only !== undefined && containers.length === 1) {
    only.rate = cores;
    return;
  }
  if (scratch.containers.wanted.length < containers.length) {
    scratch.containers = createClaims(2 * containers.length);
  }
  const claims = scratch.containers;
  claims.count = containers.length;
  containers.forEach((container, index) => {
    claims.wanted[index] = container.rate;
    claims.weights[index] = container.weight;
  });
  shareByWeight(claims, cores);
  containers.forEach((container, index) => {
    container.rate = claims.given[index] ?? 0;
  });
}
