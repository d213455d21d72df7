/**
 * The pods of the agent's benchmark with their allocations, and the part of an API server that an
 * agent talks to, over TLS: its node, its lease, and the allocations of its node, which it lists,
 * watches and patches.
 *
 * @module
 */
import { Hono } from "hono";
import {
  ALLOCATION_GROUP_VERSION,
  type Desired,
  type PodAllocation,
} from "../../../shared/api/pod_allocation.ts";
import { allocationsPath } from "../../../adapters/kube/kinds/allocations.ts";
import { userKubeconfig } from "../../../tests/fixtures/canned_server.ts";
import { mergePatch } from "../../simulation/api/api_writers.ts";

/** A pod with one container and a sandbox. */
export type BenchPod = Readonly<Record<"uid" | "containerID" | "sandboxID", string>>;

/** The node that they run on. */
export const BENCH_NODE = "bench-node";
const BENCH_NAMESPACE = "bench";

/** Millicores of each pod. */
export const REQUEST = 100;
/** Likewise, at first. */
export const LIMIT = 500;
const BURST_FACTOR = 8;
const ID_DIGITS = 63;

/** That many pods, the same each time. */
export function benchPods(count: number): BenchPod[] {
  return Array.from({ length: count }, (_, index): BenchPod => {
    const digits = index.toString(16);
    return {
      uid: `5d0b4f6e-9a51-4c0f-8a7b-${digits.padStart(12, "0")}`,
      containerID: `c${digits.padStart(ID_DIGITS, "0")}`,
      sandboxID: `5${digits.padStart(ID_DIGITS, "0")}`,
    };
  });
}

/** A pod's allocation as the controller publishes it, before the agent's first clearing. */
export function benchAllocation({ uid, containerID }: BenchPod): PodAllocation {
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name: uid, namespace: BENCH_NAMESPACE, uid: `a-${uid}`, resourceVersion: "1" },
    spec: {
      podName: `pod-${uid.slice(-4)}`,
      podUID: uid,
      nodeName: BENCH_NODE,
      namespace: BENCH_NAMESPACE,
    },
    status: {
      bounds: {
        revision: 1,
        reason: `original limit × ${BURST_FACTOR}`,
        containers: [{
          name: "app",
          containerID: `containerd://${containerID}`,
          floor: REQUEST,
          ceiling: LIMIT * BURST_FACTOR,
          weight: REQUEST,
        }],
      },
      originalLimits: [{ name: "app", cpu: `${LIMIT}m` }],
    },
  };
}

/** A server that answers. */
export interface AgentAPI extends AsyncDisposable {
  readonly kubeconfig: string;
  /** `host:port`. */
  readonly address: string;
  /** Patches of allocations since the start. */
  readonly writes: number;
}

const COLLECTION = allocationsPath();
const ONE = "/apis/allocation.mbcas.io/v1alpha1/namespaces/:namespace/podallocations/:name";

/** A watch gets a bookmark this often (kube-apiserver, `bookmarkFrequency`); silent ones are given up. */
const BOOKMARK_MS = 60_000;

/** Certificates for 127.0.0.1. */
const TLS = new URL("../../../tests/fixtures/tls/", import.meta.url);

/** Starts it on a free port of the loopback. `onDesired` receives each limit that the agent wants. */
export async function startAgentAPI(
  { allocations, allocatable, onDesired }: {
    readonly allocations: readonly PodAllocation[];
    /** Millicores. */
    readonly allocatable: number;
    readonly onDesired: (podUID: string, desired: Desired) => void;
  },
): Promise<AgentAPI> {
  const objects = new Map(allocations.map((one) => [one.metadata.name, one]));
  const watchers = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const text = new TextEncoder();
  let version = 1;
  let writes = 0;
  const notify = (event: unknown): void => {
    const line = text.encode(`${JSON.stringify(event)}\n`);
    for (const watcher of watchers) watcher.enqueue(line);
  };
  const app = new Hono();
  app.get("/api/v1/nodes/:name", (context) => context.json(node(allocatable)));
  app.patch("/apis/coordination.k8s.io/*", (context) => context.json({}));
  app.get(COLLECTION, (context) => {
    const resourceVersion = String(version);
    if (context.req.query("watch") === undefined) {
      return context.json({ metadata: { resourceVersion }, items: [...objects.values()] });
    }
    let mine: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void watchers.add(mine = controller),
      cancel: () => void watchers.delete(mine),
    });
    return new Response(body, { headers: { "content-type": "application/json" } });
  });
  app.patch(ONE, async (context) => {
    const old = objects.get(context.req.param("name"));
    if (old === undefined) return context.json({ kind: "Status", code: 404 }, 404);
    const patch: unknown = await context.req.json();
    writes++;
    version++;
    const metadata = { ...old.metadata, resourceVersion: String(version) };
    const object = { ...mergePatch(old, patch) as PodAllocation, metadata };
    objects.set(old.metadata.name, object);
    onDesired(old.spec.podUID, object.spec);
    notify({ type: "MODIFIED", object });
    return context.json(object);
  });
  const bookmarks = setInterval(() => {
    const metadata = { resourceVersion: String(version) };
    notify({
      type: "BOOKMARK",
      object: { apiVersion: ALLOCATION_GROUP_VERSION, kind: "PodAllocation", metadata },
    });
  }, BOOKMARK_MS);
  const [authority = "", cert = "", key = ""] = await Promise.all(
    ["ca.crt", "server.crt", "server.key"].map((file) => Deno.readTextFile(new URL(file, TLS))),
  );
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {}, cert, key },
    (request) => app.fetch(request),
  );
  const address = `127.0.0.1:${server.addr.port}`;
  const kubeconfig = await Deno.makeTempFile({ prefix: "agent-kubeconfig-" });
  const cluster = { "certificate-authority-data": btoa(authority) };
  await Deno.writeTextFile(
    kubeconfig,
    userKubeconfig(`https://${address}`, { cluster, user: { token: "bench" } }),
  );
  return {
    kubeconfig,
    address,
    get writes() {
      return writes;
    },
    async [Symbol.asyncDispose]() {
      clearInterval(bookmarks);
      for (const watcher of watchers) watcher.close();
      await server.shutdown();
      await Deno.remove(kubeconfig);
    },
  };
}

function node(allocatable: number): unknown {
  return {
    apiVersion: "v1",
    kind: "Node",
    metadata: { name: BENCH_NODE, uid: "bench", resourceVersion: "1" },
    status: {
      allocatable: { cpu: `${allocatable}m` },
      conditions: [{ type: "Ready", status: "True" }],
      nodeInfo: { kubeletVersion: "v1.36.3" },
    },
  };
}
