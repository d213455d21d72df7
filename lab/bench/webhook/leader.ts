/**
 * The webhook of a leader in a thread of its own, with a heap of its own.
 *
 * @module
 */
import { systemClock as clock } from "../../../adapters/system_clock.ts";
import type { KeyedCertificate } from "../../../adapters/webhook/certificates.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import {
  certificateChain,
  createWebhookClient,
  SERVICE_NAME,
  type WebhookClient,
} from "../../../tests/fixtures/webhook/webhook_client.ts";
import type { MemoryUse } from "../memory.ts";

/** Where pods are asked about. */
export const ROUTE = "/mutate/pods";

/**
 * A message to the leader: first to start, then the events of its copies. It answers to the start with
 * its address, and to a question about its memory.
 */
export type ToLeader =
  | { readonly kind: "start"; readonly pods: number; readonly serving: KeyedCertificate }
  | { readonly kind: "put" | "remove"; readonly pod: Pod }
  | { readonly kind: "memory" };

/** The leader, with a client. */
export interface BenchLeader extends Disposable {
  readonly client: WebhookClient;
  /** Its copies see the pod, or that it is gone. */
  put(pod: Pod): void;
  remove(pod: Pod): void;
  /** Once its garbage is gone. */
  memory(): Promise<MemoryUse>;
}

/** Starts it, with one workload of so many pods. Throws where it can't start. */
export async function startLeader(pods: number): Promise<BenchLeader> {
  const { authority, serving } = await certificateChain("bench", clock.wall());
  const worker = new Worker(new URL("./leader_worker.ts", import.meta.url), { type: "module" });
  const send = (message: ToLeader): void => worker.postMessage(message);
  /** Sends it, and waits for the answer. One at a time. */
  function ask<Answer>(message: ToLeader): Promise<Answer> {
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    worker.onmessage = ({ data }: MessageEvent<Answer>) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      reject(new Error(`Cannot run the webhook: ${event.message}`));
    };
    send(message);
    return promise;
  }
  const client = createWebhookClient({
    address: await ask<string>({ kind: "start", pods, serving }),
    bundle: authority.cert,
    serverName: SERVICE_NAME,
    readsCertificate: false,
    connections: 32,
  });
  return {
    client,
    put: (pod) => send({ kind: "put", pod }),
    remove: (pod) => send({ kind: "remove", pod }),
    memory: () => ask<MemoryUse>({ kind: "memory" }),
    [Symbol.dispose]() {
      client[Symbol.dispose]();
      worker.terminate();
    },
  };
}
