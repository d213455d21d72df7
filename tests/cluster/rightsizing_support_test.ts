/**
 * The numbered property of support for resizes in place: what is detected of a real API server is what
 * that does, where it serves them and where it does not.
 *
 * @module
 */
import { type Pod, withResources } from "../../shared/api/pod.ts";
import { readResizeSupport } from "../../adapters/kube/client/api_checks.ts";
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import { connectKubeconfig } from "../../adapters/kube/client/connect.ts";
import { parsePod } from "../../adapters/kube/kinds/pods.ts";
import { createPodResizer } from "../../adapters/kube/writers/pod_writers.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import { resizePatch } from "../../shared/resize/patch.ts";
import { bareContainer, MI } from "../fixtures/rightsizing/rightsizing_facts.ts";
import { containerSpec } from "./scene/contract_world.ts";
import { startEmulatedServer } from "./scene/emulated_server.ts";
import { isHarness } from "./scene/harness_access.ts";
import { scratchNamespace } from "./scene/real_node.ts";
import assert from "node:assert/strict";
import fc from "fast-check";

const CASES = { numRuns: 100 } as const;

/** Requests of a container or a sidecar, below limits that stay; millicores and Mi. */
const drawnResize = fc.record({
  cpu: fc.integer({ min: 2, max: 400 }),
  memory: fc.integer({ min: 16, max: 400 }),
  toCPU: fc.integer({ min: 2, max: 400 }),
  toMemory: fc.integer({ min: 16, max: 400 }),
  sidecar: fc.boolean(),
}).filter(({ cpu, toCPU }) => cpu !== toCPU);

/** Detects once and then again at the end, and resizes a pod after the other in between. */
async function assertDetected(
  connection: KubeConnection,
  { namespace, isServed }: { readonly namespace: string; readonly isServed: boolean },
): Promise<void> {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const resizer = createPodResizer(connection);
  const read = async (name: string): Promise<Pod> =>
    parsePod(await connection.request({ path: `${pods}/${name}` }));
  let made = 0;
  await fc.assert(
    fc.asyncProperty(drawnResize, async ({ cpu, memory, toCPU, toMemory, sidecar }) => {
      const { resizeServed } = await readResizeSupport(connection);
      assert.equal(resizeServed, isServed);
      const limits = { requests: {}, limits: { cpu: 1000, memory: 1000 * MI } };
      const requests = { requests: { cpu, memory: memory * MI }, limits: {} };
      const own = bareContainer("app", withResources(limits, requests));
      const proxy = { ...own, name: "proxy", sidecar: true };
      const name = `web-${made++}`;
      const spec = {
        schedulerName: "none",
        containers: [containerSpec(own)],
        initContainers: [containerSpec(proxy)],
      };
      const body = { metadata: { name }, spec };
      const before = parsePod(await connection.request({ method: "POST", path: pods, body }));
      const next = { requests: { cpu: toCPU, memory: toMemory * MI }, limits: {} };
      const target = sidecar ? "proxy" : "app";
      const patch = resizePatch(before.metadata.uid, [{ name: target, sidecar, ...next }]);
      const answer = await resizer.resize(namespace, name, patch).then(
        () => "resized",
        (error: unknown) => error instanceof ApiError ? error.status : error,
      );
      assert.equal(answer, resizeServed ? "resized" : 404);
      const { containers } = await read(name);
      const expected = before.containers.map((one) =>
        one.name === target && resizeServed ? withResources(one, next) : one
      );
      assert.deepEqual(
        containers.map((
          { name, requests: { cpu: requestCPU, memory: requestMemory } },
        ) => [name, requestCPU, requestMemory]),
        expected.map((
          { name, requests: { cpu: requestCPU, memory: requestMemory } },
        ) => [name, requestCPU, requestMemory]),
      );
    }),
    CASES,
  );
}

Deno.test("property 20: readResizeSupport() finds that resizes are served where pods are resized, on a real API server", async () => {
  const connection = await connectKubeconfig();
  try {
    await using namespace = await scratchNamespace(connection);
    await assertDetected(connection, { namespace: namespace.name, isServed: true });
  } finally {
    connection.close();
  }
});

for (const isServed of [true, false]) {
  const state = isServed ? "on" : "off";
  Deno.test({
    name:
      `property 20: readResizeSupport() goes by the gate of 1.33 that is ${state}, on a real API server`,
    // The last version in which the gate can be off is the oldest that the newest server emulates.
    ignore: !isHarness(),
    async fn() {
      await using server = await startEmulatedServer({
        version: "1.33",
        featureGates: { InPlacePodVerticalScaling: isServed },
      });
      const { connection } = server;
      const namespace = "shop";
      const body = { metadata: { name: namespace } };
      await connection.request({ method: "POST", path: "/api/v1/namespaces", body });
      await assertDetected(connection, { namespace, isServed });
    },
  });
}
