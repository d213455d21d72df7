/**
 * The webhook of a leader in a process of its own.
 *
 * @module
 */
import { createJSONLines } from "../../../adapters/kube/client/http_connection.ts";
import { systemClock as clock } from "../../../adapters/system_clock.ts";
import type { KeyedCertificate } from "../../../adapters/webhook/certificates.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import {
  certificateChain,
  createWebhookClient,
  SERVICE_NAME,
  type WebhookClient,
} from "../../../tests/fixtures/webhook/webhook_client.ts";
import { PROGRAM_ENVIRONMENT, V8_FLAGS } from "../../../tools/build/programs.ts";
import type { MemoryUse } from "../memory.ts";

/** Where pods are asked about. */
export const ROUTE = "/mutate/pods";

/** A message to the leader: first to start, then the events of its copies. */
export type ToLeader =
  | { readonly kind: "start"; readonly pods: number; readonly serving: KeyedCertificate }
  | { readonly kind: "put" | "remove"; readonly pod: Pod }
  | { readonly kind: "memory" };

/** The leader's answer. */
export type FromLeader =
  | { readonly kind: "started"; readonly address: string }
  | { readonly kind: "memory"; readonly use: MemoryUse };

/** The leader, with a client. */
export interface BenchLeader extends AsyncDisposable {
  readonly client: WebhookClient;
  /** Its copies see the pod. */
  put(pod: Pod): void;
  /** Its copies see that it is gone. */
  remove(pod: Pod): void;
  /** Once its garbage is gone. */
  memory(): Promise<MemoryUse>;
}

/** Starts it, with one workload of so many pods. Throws where it can't start. */
export async function startLeader(pods: number): Promise<BenchLeader> {
  const { authority, serving } = await certificateChain("bench", clock.wall());
  await using ends = new AsyncDisposableStack();
  const process = ends.use(newProcess());
  const { address } = await process.ask({ kind: "start", pods, serving }, "started");
  const client = ends.use(createWebhookClient({
    address,
    bundle: authority.cert,
    serverName: SERVICE_NAME,
    readsCertificate: false,
    connections: 32,
  }));
  const running = ends.move();
  return {
    client,
    put: (pod) => process.send({ kind: "put", pod }),
    remove: (pod) => process.send({ kind: "remove", pod }),
    memory: async () => (await process.ask({ kind: "memory" }, "memory")).use,
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

interface LeaderProcess extends AsyncDisposable {
  send(message: ToLeader): void;
  /** Sends it, and waits for the answer. One at a time. Throws where the process has ended. */
  ask<K extends FromLeader["kind"]>(
    message: ToLeader,
    kind: K,
  ): Promise<Extract<FromLeader, { readonly kind: K }>>;
}

/** One with the flags and the environment with which the controller is shipped. */
function newProcess(): LeaderProcess {
  const child = new Deno.Command(Deno.execPath(), {
    args: [
      ...["run", "--quiet", "--allow-all", "--no-check", `${V8_FLAGS},--expose-gc`],
      new URL("./leader_process.ts", import.meta.url).href,
    ],
    env: { ...PROGRAM_ENVIRONMENT },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const input = child.stdin.getWriter();
  const encoder = new TextEncoder();
  const messages = messagesOf(child.stdout);
  // A process that has ended is reported where its answer is waited for.
  const send = (message: ToLeader): void =>
    void input.write(encoder.encode(`${JSON.stringify(message)}\n`)).catch(() => {});
  return {
    send,
    async ask<K extends FromLeader["kind"]>(message: ToLeader, kind: K) {
      send(message);
      const { done, value } = await messages.next();
      if (done) throw new Error("Cannot run the webhook: its process has ended");
      if (value.kind !== kind) throw new Error(`Cannot run the webhook: it sends ${value.kind}`);
      return value as Extract<FromLeader, { readonly kind: K }>;
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
): AsyncGenerator<FromLeader, undefined> {
  const lines = createJSONLines();
  for await (const chunk of stdout) {
    for (const message of lines.take(chunk)) yield message as FromLeader;
  }
}
