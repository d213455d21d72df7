/**
 * Limits stay as they are while the node is on its way out.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { BoundReason } from "../../shared/api/reasons/bound_reasons.ts";
import type { ContainerBounds } from "../../shared/api/pod_allocation.ts";
import { createKubectl } from "./kubectl.ts";
import { assertReported, assertUnreported } from "./scene/reported.ts";
import {
  boundBy,
  OUTSIDE,
  quotaOf,
  takeIn,
  WAITING_OWN,
  waitingPod,
  whenQuota,
} from "./scene/limits.ts";
import { firstNode, onNode } from "./scene/real_node.ts";
import { pause } from "./scene/until.ts";

const kubectl = createKubectl();
const TAINT = "ToBeDeletedByClusterAutoscaler=1:NoSchedule";

interface Row {
  readonly name: string;
  /** Commands of kubectl about a node. */
  readonly mark: (node: string) => readonly string[];
  readonly unmark: (node: string) => readonly string[];
  readonly bound: BoundReason;
  readonly held: ContainerBounds["held"];
}

const ROWS: readonly Row[] = [
  {
    name: "limits stay on a node that is marked for removal, and move once it is not",
    mark: (node) => ["taint", "node", node, TAINT],
    unmark: (node) => ["taint", "node", node, `${TAINT}-`],
    bound: "NodeDraining",
    held: "both",
  },
  {
    name: "limits are raised and not lowered on a node that was just cordoned",
    mark: (node) => ["cordon", node],
    unmark: (node) => ["uncordon", node],
    bound: "NodeCordoned",
    held: "lower",
  },
];

for (const { name, mark, unmark, bound, held } of ROWS) {
  Deno.test(
    name,
    onNode(async (node, namespace) => {
      const web = await waitingPod(node, namespace.name);
      const whenRaised = () => whenQuota(node, web, (quota) => quota > WAITING_OWN);
      const nodeName = await firstNode(node);
      await kubectl.must(mark(nodeName));
      try {
        await takeIn(node, namespace.name);
        assert.equal((await boundBy(node, web, bound)).held, held);
        await assertReported(node, web, { bound });
        if (held === "lower") await whenRaised();
        else {
          await pause(8000);
          assert.equal(await quotaOf(node, web), WAITING_OWN);
        }
      } finally {
        await kubectl.must(unmark(nodeName));
      }
      await whenRaised();
      await assertUnreported(web, bound);
    }, OUTSIDE),
  );
}
