import assert from "node:assert/strict";
import { ApiError } from "../../../../shared/api/api_error.ts";
import type { RealNode } from "../real_node.ts";
import { silencedKubelet } from "./silenced_kubelet.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
const KINDS = ["validatingadmissionpolicies", "validatingadmissionpolicybindings"];

/** A server that refuses to make what it has, and to remove what it has not. */
function server(left: readonly string[]) {
  const has = new Map<string, string>(left.map((path) => [path, ""]));
  const node = {
    connection: {
      request: ({ method, path }: { method?: string; path: string }) => {
        assert.equal(method, "DELETE");
        return has.delete(path)
          ? Promise.resolve({})
          : Promise.reject(new ApiError(404, "NotFound", path));
      },
    },
    create: (path: string, body: { metadata: { name: string } }) => {
      const own = `${path}/${body.metadata.name}`;
      if (has.has(own)) return Promise.reject(new ApiError(409, "AlreadyExists", own));
      has.set(own, JSON.stringify(body));
      return Promise.resolve(body);
    },
  } as unknown as Pick<RealNode, "connection" | "create">;
  return { has, node };
}

const PATHS = KINDS.map((kind) => `${GROUP}/${kind}/try-node-conditions`);

Deno.test({
  name: "silencedKubelet() refuses the status of one node's kubelet, until the end",
  permissions: "none",
  async fn() {
    const { has, node } = server([]);
    {
      await using _silenced = await silencedKubelet(node, "node-7");
      assert.deepEqual([...has.keys()], PATHS);
      assert.match(has.get(PATHS[0] ?? "") ?? "", /object\.metadata\.name != 'node-7' \|\| !\(/);
    }
    assert.deepEqual([...has.keys()], []);
  },
});

Deno.test({
  name: "silencedKubelet() takes over what an interrupted run has left, and removes it too",
  permissions: "none",
  async fn() {
    for (const left of [PATHS, PATHS.slice(0, 1)]) {
      const { has, node } = server(left);
      {
        await using _silenced = await silencedKubelet(node, "node-7");
        assert.ok(PATHS.every((path) => has.get(path) !== ""), "made anew");
      }
      assert.equal(has.size, 0);
    }
  },
});
