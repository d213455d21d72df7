/**
 * Every way out of the market gives a pod the limits that it came with, and they stay. A node with
 * an agent that is gone: `silent_agent_test.ts`.
 *
 * @module
 */
import { patchRequest } from "../../adapters/kube/client/connection.ts";
import assert from "node:assert/strict";
import { createKubectl } from "./kubectl.ts";
import { assertRestored, RAISED_OWN, raisedPod, SETTLED, whenRaised } from "./scene/limits.ts";
import { auditLines, coalloc } from "./scene/product.ts";
import { eventTexts } from "./scene/reported.ts";
import { onNode, type RealNode } from "./scene/real_node.ts";
import { testsAtOnce } from "./scene/tests_at_once.ts";
import { until } from "./scene/until.ts";

const kubectl = createKubectl();
/** The value that another client sets instead of the original limit, millicores. */
const EDITED = 180;

/** Sets or removes (null) an annotation of an object. */
async function annotate(node: RealNode, path: string, value: string | null): Promise<void> {
  await node.connection.request(
    patchRequest("merge", {
      path,
      body: { metadata: { annotations: { "mbcas.io/managed": value } } },
    }),
  );
}

// Each on a pod of its own, with a load that is small: they are raised together.
testsAtOnce({
  "a bare pod with a record that is deleted has its original limits back, from the pod itself":
    onNode(async (node, namespace) => {
      const name = { namespace: namespace.name, name: "unrecorded" };
      await raisedPod(node, name);
      const { metadata: { uid = "" } = {} } = await node.pod(name) ?? {};
      await annotate(node, `/api/v1/namespaces/${namespace.name}/pods/unrecorded`, "false");
      await kubectl.run(["delete", "podallocation", uid, "-n", namespace.name]);
      await assertRestored(node, name);
    }),
  "a limit that another client writes is the new original limit": onNode(
    async (node, namespace) => {
      const name = { namespace: namespace.name, name: "edited" };
      await raisedPod(node, name);
      const patch = {
        spec: { containers: [{ name: "load", resources: { limits: { cpu: `${EDITED}m` } } }] },
      };
      await kubectl.must([
        ...["patch", "pod", "edited", "-n", namespace.name, "--subresource=resize"],
        ...["-p", JSON.stringify(patch)],
      ]);
      const pod = await node.pod(name);
      await until("new original limit on record", async () => {
        const allocation = await node.allocation(namespace.name, pod?.metadata.uid ?? "");
        return allocation?.status?.originalLimits?.[0]?.cpu === `${EDITED}m` || undefined;
      }, SETTLED);
      const reported = await until(
        "event",
        async () => (await eventTexts(node, { ...name, reason: "OriginalLimitChanged" }))[0],
      );
      assert.match(reported, new RegExp(`\\bload to ${EDITED}m\\b.*\\b${RAISED_OWN}m\\b`));
      const { stdout } = await coalloc("explain", "edited", "-n", namespace.name);
      assert.match(stdout, new RegExp(`original limit ${EDITED}m`));
      await whenRaised(node, name);
      await annotate(node, `/api/v1/namespaces/${namespace.name}/pods/edited`, "false");
      await assertRestored(node, name, EDITED);
      assert.partialDeepStrictEqual((await auditLines(pod?.metadata.uid ?? "")).at(-1), {
        ...{ source: "restore", outcome: "accepted", reason: "OptedOut", container: "load" },
        after: { limits: { cpu: `${EDITED}m` } },
      });
    },
  ),
});
