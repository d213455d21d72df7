/**
 * A local port that leads to the port of a pod, as `kubectl port-forward` makes it. Each connection is
 * forwarded by itself (`pods/portforward`), so that a later one may lead to another pod.
 *
 * @module
 */
import type { OpenKubeConnection } from "./connection.ts";
import { channelContents, portForward, portFrame } from "./port_forward.ts";

/** A pod's port. */
export interface PodPort {
  readonly namespace: string;
  readonly pod: string;
  readonly port: number;
}

/** A local port. */
export interface Tunnel {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** Ends its connections and resolves when that is done. May be called again. */
  close(): Promise<void>;
}

/** Listens at once; `target` is asked for each connection, which ends where that rejects. */
export function openTunnel(
  connection: OpenKubeConnection,
  target: () => Promise<PodPort>,
): Tunnel {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<Deno.Conn>();

  async function forward(local: Deno.Conn): Promise<void> {
    open.add(local);
    try {
      await forwardOne(connection, { local, target: await target() });
    } catch {
      // The local side sees that its connection ends.
    } finally {
      end(local);
    }
  }

  /** A connection closes itself when both of its streams have ended. */
  function end(local: Deno.Conn): void {
    open.delete(local);
    try {
      local.close();
    } catch (error) {
      if (!(error instanceof Deno.errors.BadResource)) throw error;
    }
  }

  async function accept(): Promise<void> {
    const all = new Set<Promise<void>>();
    for await (const local of listener) {
      const one = forward(local).finally(() => all.delete(one));
      all.add(one);
    }
    await Promise.all(all);
  }

  const { port } = listener.addr as Deno.NetAddr;
  const accepted = accept();
  let isClosed = false;
  return {
    address: `127.0.0.1:${port}`,
    async close() {
      if (!isClosed) listener.close();
      isClosed = true;
      for (const local of [...open]) end(local);
      await accepted;
    },
  };
}

/** Resolves when both sides have ended. */
async function forwardOne(
  connection: OpenKubeConnection,
  { local, target }: { readonly local: Deno.Conn; readonly target: PodPort },
): Promise<void> {
  const socket = await connection.socket(portForward(target));
  socket.binaryType = "arraybuffer";
  const closed = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  const contentOf = channelContents();
  const writer = local.writable.getWriter();
  socket.onopen = () => opened.resolve();
  socket.onmessage = ({ data }) => {
    const { isError, content } = contentOf(data);
    if (isError) socket.close();
    else writer.write(content).catch(() => socket.close());
  };
  socket.onclose = () => {
    opened.reject(new Error("Cannot forward the port: the connection was closed"));
    closed.resolve();
  };
  try {
    await opened.promise;
    const pump = (async () => {
      for await (const chunk of local.readable) socket.send(portFrame(chunk));
    })().catch(() => {}).finally(() => socket.close());
    await closed.promise;
    await writer.close().catch(() => {});
    await pump;
  } finally {
    await closed.promise;
  }
}
