import assert from "node:assert/strict";
import { systemClock } from "../../../../adapters/system_clock.ts";
import type { KubeConnection, KubeRequest } from "../../../../adapters/kube/client/connection.ts";
import { ApiError } from "../../../../shared/api/api_error.ts";
import { runStandInKubelet } from "./stand_in_kubelet.ts";

function rawPod(name: string, { nodeName, deleted = false }: {
  readonly nodeName?: string;
  readonly deleted?: boolean;
}): Record<string, unknown> {
  const ends = deleted ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {};
  return {
    metadata: { name, namespace: "shop", uid: `uid-${name}`, resourceVersion: "1", ...ends },
    spec: { ...(nodeName === undefined ? {} : { nodeName }), containers: [{ name: "app" }] },
  };
}

/** A server with these pods; notes what is asked of them, and refuses what the test says. */
function server(items: readonly unknown[], events: readonly unknown[]) {
  const asked: KubeRequest[] = [];
  const refusals: ApiError[] = [];
  const done = Promise.withResolvers<void>();
  const connection: KubeConnection = {
    request(request) {
      if (request.method === undefined) {
        return Promise.resolve({ metadata: { resourceVersion: "5" }, items });
      }
      asked.push(request);
      const refusal = refusals.shift();
      if (asked.length === EXPECTED) done.resolve();
      return refusal === undefined ? Promise.resolve({}) : Promise.reject(refusal);
    },
    async *lines({ signal }) {
      yield* events;
      await new Promise((resolve) => signal?.addEventListener("abort", resolve, { once: true }));
    },
  };
  return { connection, asked, refusals, done: done.promise };
}

const EXPECTED = 4;

Deno.test({
  name: "runStandInKubelet() starts and ends the pods of its nodes, and touches no others",
  permissions: "none",
  async fn() {
    const { connection, asked, refusals, done } = server([
      rawPod("mine", { nodeName: "z-1" }),
      rawPod("real", { nodeName: "real-node" }),
      rawPod("dead", { nodeName: "z-2", deleted: true }),
      rawPod("waits", {}),
    ], [
      { type: "MODIFIED", object: rawPod("waits", { nodeName: "z-1" }) },
      { type: "MODIFIED", object: rawPod("goes", { nodeName: "z-1", deleted: true }) },
    ]);
    // One that is gone already is no failure; a server in trouble is asked again.
    refusals.push(new ApiError(404, "NotFound", "gone"), new ApiError(500, "Trouble", "later"));
    const end = new AbortController();
    const lives = (nodeName: string): boolean => nodeName === "z-1";
    const running = runStandInKubelet(connection, { lives, clock: systemClock }, end.signal);
    await done;
    end.abort();
    await running;
    const requests = asked.map(({ method, path }) =>
      `${method} ${path.split("/").slice(6).join("/")}`
    );
    assert.deepEqual(requests.slice(0, 3), [
      "PATCH mine/status",
      "PATCH waits/status",
      "DELETE goes",
    ]);
    assert.equal(requests[3], "PATCH waits/status");
    const deletion = asked[2]?.body;
    assert.deepEqual(deletion, { gracePeriodSeconds: 0, preconditions: { uid: "uid-goes" } });
  },
});
