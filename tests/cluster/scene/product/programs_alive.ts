/**
 * Whether the product's programs have lived through what a test did to them.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { RealNode } from "../real_node.ts";
import { leaseHolder, podsOf } from "../product.ts";
import { until } from "../until.ts";

/** The lives of all its programs: pods, restarts of their containers, and the leader. */
type Lives = readonly (readonly [pod: string, restartedAtMs: number | undefined])[];

/** Notes the programs that run now; the returned function fails unless all of them still do. */
export async function watchPrograms(
  node: Pick<RealNode, "connection">,
): Promise<() => Promise<void>> {
  // Right after an installation none may lead yet.
  const holder = await until("a leader", async () => await leaseHolder(node) || undefined);
  const before = await livesOf(node);
  return async () => {
    assert.deepEqual(await livesOf(node), before);
    assert.equal(await leaseHolder(node), holder, "the same controller leads");
  };
}

async function livesOf(node: Pick<RealNode, "connection">): Promise<Lives> {
  const pods = [
    ...await podsOf(node, "mbcas-agent"),
    ...await podsOf(node, "mbcas-controller"),
  ];
  return pods.flatMap(({ metadata, ready, containers }) => {
    assert.ok(ready, `${metadata.name} is ready`);
    return containers.map(({ restartedAtMs }) => [metadata.name, restartedAtMs] as const);
  });
}
