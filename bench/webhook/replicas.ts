/**
 * Two replicas of the webhook in processes of their own, the first of which counts.
 *
 * @module
 */
import { createJSONLines } from "../../adapters/kube/client/http_connection.ts";
import { systemClock as clock } from "../../adapters/system_clock.ts";
import type { CountablePod } from "../../shared/placement/pod_standing.ts";
import { certificateChain, SERVICE_NAME } from "../../tests/fixtures/shared_certificates.ts";
import { createWebhookClient, type WebhookClient } from "../../tests/fixtures/webhook_client.ts";
import { PROGRAM_ENVIRONMENT, V8_FLAGS } from "../../tools/build/programs.ts";
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
  | { readonly kind: "memory"; readonly use: MemoryUse };

/** The replicas, each with who asks it. */
export interface BenchReplicas extends AsyncDisposable {
  readonly clients: readonly WebhookClient[];
  /** All copies see the pod. */
  put(pod: CountablePod): void;
  /** All copies see that it is gone. */
  remove(pod: CountablePod): void;
  /** Of each, once its garbage is gone. */
  memory(): Promise<readonly MemoryUse[]>;
}

/** Starts them, with one workload of so many pods. Throws where one can't start. */
export async function startReplicas(pods: number): Promise<BenchReplicas> {
  const { authority, serving } = await certificateChain("bench", clock.wall());
  const shared = { serving, authority: authority.cert };
  await using ends = new AsyncDisposableStack();
  const processes = [ends.use(newProcess()), ends.use(newProcess())] as const;
  const tellAll = (message: ToReplica): void => processes.forEach(({ tell }) => tell(message));

  async function start(
    process: ReplicaProcess,
    options: ReplicaOptions,
  ): Promise<ReplicaAddresses> {
    const { addresses } = await ask(process, { kind: "start", pods, options }, "started");
    return addresses;
  }

  const first = await start(processes[0], shared);
  const second = await start(processes[1], { ...shared, leader: first.peers });
  const clients = [first, second].map(({ address }) =>
    ends.use(createWebhookClient({
      address,
      bundle: authority.cert,
      serverName: SERVICE_NAME,
      readsCertificate: false,
      connections: 16,
    }))
  );
  const running = ends.move();
  return {
    clients,
    put: (pod) => tellAll({ kind: "put", pod }),
    remove: (pod) => tellAll({ kind: "remove", pod }),
    memory: () =>
      Promise.all(
        processes.map(async (one) => (await ask(one, { kind: "memory" }, "memory")).use),
      ),
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

interface ReplicaProcess extends AsyncDisposable {
  tell(message: ToReplica): void;
  /** The next message. Throws where it has ended. */
  next(): Promise<FromReplica>;
}

/** One with the flags and the environment with which the controller is shipped. */
function newProcess(): ReplicaProcess {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--allow-all", "--no-check", `${V8_FLAGS},--expose-gc`],
      new URL("./replica_process.ts", import.meta.url).href,
    ],
    env: { ...PROGRAM_ENVIRONMENT },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  const encoder = new TextEncoder();
  const messages = messagesOf(child.stdout);
  return {
    tell(message) {
      // One that has ended is told of where its answer is waited for.
      input.write(encoder.encode(`${JSON.stringify(message)}\n`)).catch(() => {});
    },
    async next() {
      const { done, value } = await messages.next();
      if (done) throw new Error("Cannot run a replica: it has ended");
      return value;
    },
    async [Symbol.asyncDispose]() {
      await input.close().catch(() => {});
      await messages.return(undefined);
      await child.status;
    },
  };
}

async function* messagesOf(
  stdout: ReadableStream<Uint8Array>,
): AsyncGenerator<FromReplica, undefined> {
  const lines = createJSONLines();
  for await (const chunk of stdout) {
    for (const message of lines.take(chunk)) yield message as FromReplica;
  }
}

/** Tells a replica something, and waits for the answer. One question at a time. */
async function ask<K extends FromReplica["kind"]>(
  process: ReplicaProcess,
  message: ToReplica,
  kind: K,
): Promise<Extract<FromReplica, { readonly kind: K }>> {
  process.tell(message);
  const said = await process.next();
  if (said.kind !== kind) throw new Error(`Cannot run a replica: it says ${said.kind}`);
  return said as Extract<FromReplica, { readonly kind: K }>;
}
