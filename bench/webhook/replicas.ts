/**
 * Two replicas of the webhook in threads of their own, the first of which counts.
 *
 * @module
 */
import { systemClock as clock } from "../../adapters/system_clock.ts";
import type { CountablePod } from "../../shared/placement/pod_standing.ts";
import { certificateChain, SERVICE_NAME } from "../../tests/fixtures/shared_certificates.ts";
import { createWebhookClient, type WebhookClient } from "../../tests/fixtures/webhook_client.ts";
import type { MemoryUse } from "../rightsizing/watch_memory.ts";
import type { ReplicaAddresses, ReplicaOptions } from "./replica.ts";

/** What a replica is told: first to start, then what its copies see. */
export type ToReplica =
  | { readonly kind: "start"; readonly pods: number; readonly options: ReplicaOptions }
  | { readonly kind: "put" | "remove"; readonly pod: CountablePod }
  | { readonly kind: "memory" };

/** What it says. */
export type FromReplica =
  | { readonly kind: "started"; readonly addresses: ReplicaAddresses }
  | { readonly kind: "memory"; readonly use: MemoryUse }
  | { readonly kind: "failed"; readonly message: string };

/** The replicas, each with who asks it. */
export interface BenchReplicas extends Disposable {
  readonly clients: readonly WebhookClient[];
  /** All copies see the pod. */
  put(pod: CountablePod): void;
  /** All copies see that it is gone. */
  remove(pod: CountablePod): void;
  /** Of each, once its garbage is gone; `resident` is the whole process, with who asks. */
  memory(): Promise<readonly MemoryUse[]>;
}

/** Starts them, with one workload of so many pods. Throws where one can't start. */
export async function startReplicas(pods: number): Promise<BenchReplicas> {
  const { authority, serving } = await certificateChain("bench", clock.wall());
  const shared = { serving, authority: authority.cert };
  const workers = [newWorker(), newWorker()] as const;
  const tellAll = (message: ToReplica): void =>
    workers.forEach((worker) => worker.postMessage(message));

  async function start(worker: Worker, options: ReplicaOptions): Promise<ReplicaAddresses> {
    const { addresses } = await ask(worker, { kind: "start", pods, options }, "started");
    return addresses;
  }

  const first = await start(workers[0], shared);
  const second = await start(workers[1], { ...shared, leader: first.peers });
  const clients = [first, second].map(({ address }) =>
    createWebhookClient({
      address,
      bundle: authority.cert,
      serverName: SERVICE_NAME,
      readsCertificate: false,
      connections: 16,
    })
  );
  return {
    clients,
    put: (pod) => tellAll({ kind: "put", pod }),
    remove: (pod) => tellAll({ kind: "remove", pod }),
    memory: () =>
      Promise.all(
        workers.map(async (worker) => (await ask(worker, { kind: "memory" }, "memory")).use),
      ),
    [Symbol.dispose]() {
      for (const client of clients) client[Symbol.dispose]();
      for (const worker of workers) worker.terminate();
    },
  };
}

function newWorker(): Worker {
  return new Worker(new URL("./replica_worker.ts", import.meta.url), { type: "module" });
}

/** Tells a replica something, and waits for the answer. One question at a time. */
function ask<K extends FromReplica["kind"]>(
  worker: Worker,
  message: ToReplica,
  kind: K,
): Promise<Extract<FromReplica, { readonly kind: K }>> {
  const { promise, resolve, reject } = Promise.withResolvers<
    Extract<FromReplica, { readonly kind: K }>
  >();
  const isAnswer = (said: FromReplica): said is Extract<FromReplica, { readonly kind: K }> =>
    said.kind === kind;
  worker.onmessage = ({ data }: MessageEvent<FromReplica>) => {
    if (isAnswer(data)) resolve(data);
    else if (data.kind === "failed") reject(new Error(`Cannot run a replica: ${data.message}`));
  };
  worker.onerror = (event) => {
    event.preventDefault();
    reject(new Error(`Cannot run a replica: ${event.message}`));
  };
  worker.postMessage(message);
  return promise;
}
