/**
 * The event loop of the node: from one arrival, completion or exhausted quota to the next.
 *
 * @module
 */
import { isExhausted, KEPT_MS, returnPodSlices } from "./bandwidth.ts";
import { admit, type Claims, createClaims, returnSlices, shareByWeight } from "./cpu_slices.ts";
import {
  chargePod,
  type ContainerState,
  holdContainer,
  type PodState,
  type Slice,
  watchQuotas,
} from "./pod_state.ts";
import { endRequests, nextStart, type RequestServer, startRequests } from "./request_server.ts";

/** ms; what remains of a slice when rounding is all that remains. */
const EPSILON = 1e-9;
/** ms; a tick that is nearer than this is now, hours of virtual time after the beginning, too. */
const ROUNDING = 1e-6;

/**
 * Runs one pod through a slice in which there is a core for each of its threads, or one container: the
 * threads share what cores there are.
 */
export function runAlone(pod: PodState, slice: Slice): void {
  let done = 0;
  watchQuotas(pod, slice);
  while (done < slice.length - EPSILON) {
    slice.now = slice.from + done;
    slice.step = slice.length - done;
    for (const container of pod.containers) {
      startArrived(container, slice);
      container.rate = Math.min(runnable(container), slice.cores);
    }
    stopAtEvent(pod, slice);
    done += slice.step;
    slice.now = slice.from + done;
    advancePod(pod, slice);
  }
}

/**
 * Runs pods through a slice in which their threads may exceed the cores. The cores are divided
 * anew after each event, first among pods, then among the containers of each, by weight.
 */
export function runTogether(pods: readonly PodState[], slice: Slice): void {
  let done = 0;
  for (const pod of pods) watchQuotas(pod, slice);
  while (done < slice.length - EPSILON) {
    slice.now = slice.from + done;
    slice.step = slice.length - done;
    for (const pod of pods) {
      for (const container of pod.containers) startArrived(container, slice);
    }
    divideCores(pods, slice.cores);
    for (const pod of pods) stopAtEvent(pod, slice);
    done += slice.step;
    slice.now = slice.from + done;
    for (const pod of pods) advancePod(pod, slice);
  }
}

function startArrived(container: ContainerState, { now }: Slice): void {
  const { server } = container;
  if (!(nextStart(server) <= now + EPSILON)) return;
  const started = startRequests(server, now);
  if (started > 0) admit(container, started);
}

/** Shortens the step to the time to the pod's next event. */
function stopAtEvent(pod: PodState, slice: Slice): void {
  const { now } = slice;
  let step = slice.step;
  let runs = false;
  for (const { server, rate } of pod.containers) {
    const start = nextStart(server) - now;
    if (start < step) step = start;
    if (rate <= 0) continue;
    runs = true;
    const completion = (server.nextFinish - server.served) * server.running / rate;
    if (completion < step) step = completion;
  }
  slice.step = Math.max(0, step);
  if (runs && pod.chargeAt - now < step) stopAtShortage(pod, slice);
}

/** Shortens the step to the time to the first tick at which a CPU may find no slice to take. */
function stopAtShortage(pod: PodState, slice: Slice): void {
  const { tick } = slice;
  let spare = slice.step;
  let podRate = 0;
  for (const { bandwidth, server, rate } of pod.containers) {
    podRate += rate;
    const busy = Math.min(server.running, bandwidth.cpus);
    const inPool = bandwidth.remaining - bandwidth.slice * busy - KEPT_MS * (bandwidth.cpus - busy);
    if (inPool < spare * rate) spare = inPool / rate;
  }
  if (pod.bandwidth.remaining < spare * podRate) spare = pod.bandwidth.remaining / podRate;
  let at = pod.chargeAt - slice.now;
  if (at < spare) at += tick * Math.ceil((spare - at) / tick);
  if (at < slice.step) slice.step = Math.max(0, at);
}

/** Moves the pod on by the step, which ends now. */
function advancePod(pod: PodState, slice: Slice): void {
  const { now, step } = slice;
  const isTick = pod.chargeAt <= now + ROUNDING && passTicks(pod, slice.tick, now);
  let podUsed = 0;
  let podRate = 0;
  let running = 0;
  let waiting = false;
  for (const container of pod.containers) {
    const { server, bandwidth, rate } = container;
    if (server.busy === 0) continue;
    if (rate < server.busy) {
      container.waited += step;
      waiting = true;
      // A CPU on which one of its threads runs holds no thread.
      if (container.heldByPod) {
        container.counter.pending += Math.min(server.busy, slice.cores) * step;
      } else if (server.running < server.busy) {
        bandwidth.pending += stoppedCPUs(server, slice.cores) * step;
      }
    }
    if (rate === 0) continue;
    const used = rate * step;
    container.usage += used;
    bandwidth.remaining -= used;
    podUsed += used;
    podRate += rate;
    server.served += used / server.running;
    if (server.nextFinish <= server.served + EPSILON) {
      const busy = server.busy;
      endRequests(server, now);
      if (server.busy < busy) returnSlices(container, busy);
    }
    running += server.running;
  }
  if (waiting) pod.waited += step;
  if (podUsed <= 0) return;
  pod.usage += podUsed;
  pod.bandwidth.remaining -= podUsed;
  if (running === 0) returnPodSlices(pod.bandwidth, podRate);
  if (pod.chargeAt === Infinity) return;
  if (isExhausted(pod.bandwidth)) holdIdle(pod);
  if (isTick && !chargePod(pod, slice)) returnPodSlices(pod.bandwidth, podRate);
}

function stoppedCPUs({ busy, running }: RequestServer, cores: number): number {
  return Math.min(busy - running, Math.max(0, cores - running));
}

/** Whether a tick comes now; `chargeAt` goes on to the next one. */
function passTicks(pod: PodState, tick: number, now: number): boolean {
  let isTick = false;
  while (pod.chargeAt <= now + ROUNDING) {
    isTick = pod.chargeAt >= now - ROUNDING;
    pod.chargeAt += tick;
  }
  return isTick;
}

/** A pod without quota left holds each thread at once that has come to rest. */
function holdIdle(pod: PodState): void {
  for (const container of pod.containers) {
    if (container.server.busy === 0 && !container.heldByPod) {
      holdContainer(pod, { container, counter: pod.bandwidth });
    }
  }
}

/** Scratch memory of `divideCores`, grown as needed: it keeps nothing between calls. */
const scratch: { pods: Claims; containers: Claims } = {
  pods: createClaims(16),
  containers: createClaims(4),
};

function runnable(container: ContainerState): number {
  return container.heldByPod ? 0 : container.server.running;
}

/** Sets each container's rate for the threads that are runnable now. */
function divideCores(pods: readonly PodState[], cores: number): void {
  let total = 0;
  for (const pod of pods) {
    for (const container of pod.containers) {
      container.rate = runnable(container);
      total += container.rate;
    }
  }
  if (total <= cores) return;
  if (scratch.pods.wanted.length < pods.length) scratch.pods = createClaims(2 * pods.length);
  const claims = scratch.pods;
  claims.count = pods.length;
  let index = 0;
  for (const pod of pods) {
    let wanted = 0;
    for (const { rate } of pod.containers) wanted += rate;
    claims.wanted[index] = wanted;
    claims.weights[index] = pod.weight;
    index++;
  }
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
