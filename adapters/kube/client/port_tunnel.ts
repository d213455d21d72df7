/**
 * A local port that leads to the port of a pod, as with `kubectl port-forward`. Each connection is
 * forwarded by itself (`pods/portforward`), so that a later one may lead to another pod.
 *
 * @module
 */
import { type AddressInfo, createServer, type Socket } from "node:net";
import type { KubeConfig } from "./client_node.d.ts";
import { forwardPort, type PodPort } from "./port_forward.ts";

/** A local port. */
export interface Tunnel {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** Ends its connections and resolves when that is done. May be called again. */
  close(): Promise<void>;
}

/** A tunnel's kubeconfig and target, called for each connection; it ends where `target` rejects. */
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
      const onProblem = (): void => void local.destroy();
      const end = await forwardPort(config(), { ...await target(), stream: local, onProblem });
      await closed;
      end();
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
