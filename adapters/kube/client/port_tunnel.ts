/**
 * A local port that leads to the port of a pod, as `kubectl port-forward` makes it. Each connection is
 * forwarded by itself (`pods/portforward`), so that a later one may lead to another pod.
 *
 * @module
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import { PassThrough } from "node:stream";
// @ts-types="./client_node.d.ts"
import { type KubeConfig, PortForward } from "@kubernetes/client-node";

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

/** What a tunnel leads to, both asked for each connection, which ends where `target` rejects. */
export interface TunnelParts {
  readonly config: () => KubeConfig;
  readonly target: () => Promise<PodPort>;
}

/** Resolves when it listens. */
export async function openTunnel({ config, target }: TunnelParts): Promise<Tunnel> {
  const open = new Set<Socket>();

  async function forward(local: Socket): Promise<void> {
    open.add(local);
    local.on("error", () => local.destroy());
    const closed = new Promise<void>((resolve) =>
      local.on("close", () => {
        open.delete(local);
        resolve();
      })
    );
    try {
      const { namespace, pod, port } = await target();
      const problems = new PassThrough();
      problems.on("data", (problem) => problem.length > 0 && local.destroy());
      const socket = await new PortForward(config())
        .portForward(namespace, pod, [port], local, problems, local);
      socket.onclose = () => local.end();
      await closed;
      // Closing waits for the server, half a minute where it is gone.
      socket.terminate();
    } catch {
      // The local side sees that its connection ends.
      local.destroy();
    }
  }

  const server = createServer((local) => void forward(local));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const closed = new Promise<void>((resolve) => server.on("close", resolve));
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      if (server.listening) server.close();
      for (const local of open) local.destroy();
      await closed;
    },
  };
}
