import assert from "node:assert/strict";
import type { KubeConnection } from "../../../../adapters/kube/client/connection.ts";
import type { NodeClass } from "../../../../shared/placement/node_classes.ts";
import { type SeenReplicas, seenReplicas } from "./seen_replicas.ts";
import { until } from "../until.ts";

const CLASSES: Readonly<Record<string, NodeClass>> = { "z-1": "spot", "z-2": "on-demand" };

function rawPod(name: string, { nodeName, app = "web", version = "1", ends = false }: {
  readonly nodeName: string;
  readonly app?: string;
  readonly version?: string;
  readonly ends?: boolean;
}): unknown {
  const deletion = ends ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
  const identity = { name, namespace: "shop", uid: `uid-${name}`, resourceVersion: version };
  return {
    metadata: { ...identity, labels: { app }, ...deletion },
    spec: { nodeName, containers: [{ name: "app" }] },
    status: {
      phase: "Running",
      qosClass: "BestEffort",
      conditions: [{ type: "Ready", status: "True" }],
    },
  };
}

/** A server with two pods, and a hand that causes what happens next. */
async function openScene(): Promise<{
  readonly seen: SeenReplicas;
  readonly report: (event: unknown) => void;
}> {
  const events: unknown[] = [];
  const connection: KubeConnection = {
    request: () =>
      Promise.resolve({
        metadata: { resourceVersion: "1" },
        items: [rawPod("one", { nodeName: "z-1" }), rawPod("two", { nodeName: "z-2" })],
      }),
    async *lines({ signal }) {
      while (!signal?.aborted) {
        yield* events.splice(0);
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
    },
  };
  const classOf = (name: string): NodeClass | undefined => CLASSES[name];
  const seen = await seenReplicas(connection, { namespace: "shop", classOf });
  return { seen, report: (event) => void events.push(event) };
}

Deno.test({
  name: "seenReplicas() waits until the pods that do not end are divided as requested",
  permissions: "none",
  async fn() {
    const { seen, report } = await openScene();
    await using _end = seen;
    const fast = { timeoutMs: 20, everyMs: 1 };
    const other = seen.whenDivided("web", { spot: 2, "on-demand": 0 }, fast);
    await assert.rejects(other, /\b2 pods of web\b.*\b1 and 1; of 2 pods 2\b/);
    const both = await seen.whenDivided("web", { spot: 1, "on-demand": 1 }, fast);
    assert.deepEqual(both.map(({ name }) => name).toSorted(), ["one", "two"]);
    report({
      type: "MODIFIED",
      object: rawPod("two", { nodeName: "z-2", version: "2", ends: true }),
    });
    await seen.whenDivided("web", { spot: 1, "on-demand": 0 });
  },
});

Deno.test({
  name: "everyMoment() looks at each change of the workload's pods, and reports its first failure",
  permissions: "none",
  async fn() {
    const { seen, report } = await openScene();
    await using _end = seen;
    const idle = seen.everyMoment("web", () => {});
    const strict = seen.everyMoment("web", ({ length }) => assert.equal(length, 2));
    report({ type: "ADDED", object: rawPod("else", { nodeName: "z-1", app: "db", version: "2" }) });
    report({ type: "ADDED", object: rawPod("three", { nodeName: "z-1", version: "3" }) });
    report({ type: "DELETED", object: rawPod("three", { nodeName: "z-1", version: "4" }) });
    report({ type: "DELETED", object: rawPod("one", { nodeName: "z-1", version: "5" }) });
    await until("the last change", () => seen.of("web").length === 1 || undefined, { everyMs: 1 });
    assert.equal(idle.end(), 3, "another workload's pod is no moment of this one");
    assert.throws(() => strict.end(), /3 !== 2/);
  },
});
