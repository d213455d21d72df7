/**
 * Whether the controllers have counted what was given back.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import { SETTLED } from "./pods/agreement.ts";
import { isHarness } from "./product/harness_access.ts";
import { restoresFor } from "./product/product_metrics.ts";
import type { RealNode } from "./real_node.ts";
import { until } from "./until.ts";

/**
 * Waits until so many pods more than `before` have got their original limits back for this cause. On
 * the harness's cluster these must be all: another cluster has pods of other users, which may come and
 * go.
 */
export async function assertRestores(
  node: Pick<RealNode, "connection">,
  cause: EnforcementReason,
  { before, count }: {
    /** What {@linkcode restoresFor} said before. */
    readonly before: number;
    readonly count: number;
  },
): Promise<void> {
  const restored = await until(`${count} restores for ${cause}`, async () => {
    const since = await restoresFor(node, cause) - before;
    if (since >= count) return since;
    throw new Error(`there are ${since}`);
  }, SETTLED);
  if (isHarness()) assert.equal(restored, count, `restores for ${cause}`);
}
