/**
 * What the node model says of a service of equal replicas under the recordings' load: wrk2 with a
 * fixed number of connections, each bound to the replica that it reached.
 *
 * @module
 */
import { exponential, logNormal, type Random, seededRandom } from "../../shared/random.ts";
import {
  createLatencyHistogram,
  type LatencyHistogram,
  latencyQuantile,
  mergeLatencies,
} from "../../simulation/node/latency_histogram.ts";
import type { ArrivalProcess } from "../../simulation/node/request_server.ts";
import { createSimulatedNode } from "../../simulation/node/simulated_node.ts";
import { histogramMoments } from "./moments.ts";

/** wrk2's arguments in the recordings: `-R 3000 -c 32 -d 30`. */
const REQUESTS_PER_S = 3000;
const CONNECTIONS = 32;
const RUN_MS = 30_000;
/** wrk2 forgets the latencies of its first ten seconds, in which it calibrates. */
const CALIBRATION_MS = 10_000;
/** vCPUs of an m5.2xlarge; each replica is limited to one of them. */
const NODE_CORES = 8;
const REPLICA_LIMIT = 1000;
/** Standard deviation / mean of a request's CPU time. */
const COST_VARIATION = 1;
/** Different courses of a replica with so many connections, from which runs are put together. */
const COURSES = 4;

/** Requests offered in a run. */
export const OFFERED = REQUESTS_PER_S * RUN_MS / 1000;

/** One run of wrk2, as the recordings have it. Latencies in ms. */
export interface ModelledRun {
  /** Requests completed in 30 s. */
  readonly completed: number;
  readonly meanMs: number;
  readonly spreadMs: number;
  readonly p99Ms: number;
}

/**
 * How connections find replicas: `drawn`, each by itself, as a Kubernetes Service does for
 * connections that stay; `even`, as a balancer of requests would.
 */
export type Dealing = "drawn" | "even";

/** What a service is made of. */
export interface ServiceOptions {
  /** Mean CPU time of a request, ms. */
  readonly costMs: number;
  readonly dealing: Dealing;
  readonly seed: number;
}

/** Runs of a service. */
export interface ModelledService {
  /** So many runs with so many replicas of one CPU. */
  runs(replicas: number, count: number): readonly ModelledRun[];
}

interface ReplicaRun {
  readonly completed: number;
  readonly latency: LatencyHistogram;
}

/** A service of which a request takes `costMs` of CPU. The same seed gives the same runs. */
export function createModelledService(options: ServiceOptions): ModelledService {
  // A replica's figures depend on its connections alone, so a few courses of each number will do.
  const simulated = new Map<number, ReplicaRun>();
  const replicaWith = (connections: number, course: number): ReplicaRun => {
    const key = connections * COURSES + course;
    const seed = options.seed * COURSES * (CONNECTIONS + 1) + key;
    const known = simulated.get(key) ?? simulateReplica(connections, { ...options, seed });
    simulated.set(key, known);
    return known;
  };
  return {
    runs(replicas, count) {
      const random = seededRandom(options.seed);
      return Array.from({ length: count }, () => {
        const dealt = dealConnections(replicas, { dealing: options.dealing, random });
        return together(
          dealt.map((connections) => replicaWith(connections, Math.floor(random.next() * COURSES))),
        );
      });
    },
  };
}

/** How many of the 32 connections each replica gets. */
export function dealConnections(
  replicas: number,
  { dealing, random }: { readonly dealing: Dealing; readonly random: Random },
): readonly number[] {
  const dealt = Array.from({ length: replicas }, () => 0);
  for (let connection = 0; connection < CONNECTIONS; connection++) {
    const replica = dealing === "even"
      ? connection % replicas
      : Math.floor(random.next() * replicas);
    dealt[replica] = (dealt[replica] ?? 0) + 1;
  }
  return dealt;
}

function together(replicas: readonly ReplicaRun[]): ModelledRun {
  const latency = createLatencyHistogram();
  for (const replica of replicas) mergeLatencies(latency, replica.latency);
  const { mean, spread } = histogramMoments(latency);
  return {
    completed: replicas.reduce((sum, replica) => sum + replica.completed, 0),
    meanMs: mean,
    spreadMs: spread,
    p99Ms: latencyQuantile(latency, 0.99),
  };
}

/** A replica with one thread per connection: a connection has one request under way. */
function simulateReplica(connections: number, { costMs, seed }: ServiceOptions): ReplicaRun {
  const latency = createLatencyHistogram();
  if (connections === 0) return { completed: 0, latency };
  const random = seededRandom(seed);
  const node = createSimulatedNode({ cores: NODE_CORES, random });
  const perMs = REQUESTS_PER_S / 1000 * connections / CONNECTIONS;
  node.addPod({
    uid: "replica",
    containers: [{
      id: "replica",
      request: 100,
      limit: REPLICA_LIMIT,
      threads: connections,
      workload: poissonRequests(perMs, { costMs, random }),
    }],
  });
  node.advance(CALIBRATION_MS);
  const early = Float64Array.from(node.pod("replica").latency.counts);
  node.advance(RUN_MS);
  const { completed, latency: all } = node.pod("replica");
  all.counts.forEach((count, bucket) => {
    const late = count - (early[bucket] ?? 0);
    latency.counts[bucket] = late;
    latency.total += late;
  });
  return { completed, latency };
}

/** wrk2 with `-D exp`: exponential gaps. */
function poissonRequests(
  perMs: number,
  { costMs, random }: { readonly costMs: number; readonly random: Random },
): ArrivalProcess {
  const arrivals: ArrivalProcess = {
    nextAt: 0,
    nextCost: 0,
    next() {
      arrivals.nextAt += exponential(random, 1 / perMs);
      arrivals.nextCost = logNormal(random, { mean: costMs, variation: COST_VARIATION });
    },
  };
  arrivals.next();
  return arrivals;
}
