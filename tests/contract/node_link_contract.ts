/**
 * The contract of `NodeLink`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { NodeLink } from "../../shared/api/ports.ts";
import {
  assertRefused,
  type ContractHarness,
  contractTests,
  NOT_FOUND,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A server with one node. */
export interface NodeLinkHarness extends ContractHarness {
  /** The link of the node's agent. */
  readonly subject: NodeLink;
  readonly nodeName: string;
  /** The link of an agent with a node that does not exist. */
  readonly lost: NodeLink;
  /** When the agent's Lease was last renewed, ms since the Unix epoch; undefined without one. */
  renewedAt(): Promise<number | undefined>;
  /** Lets some time pass, at least a millisecond. */
  pass(): Promise<void>;
}

/** Registers the suite. */
export function nodeLinkContract(open: OpenHarness<NodeLinkHarness>): void {
  const contract = contractTests(open);
  contract("node() returns the node as it is now", async (harness) => {
    const node = await harness.subject.node();
    assert.equal(node.metadata.name, harness.nodeName);
    assert.ok(node.allocatableCPU > 0);
  });

  contract("node() is refused with 404 when the node is gone", async (harness) => {
    await assertRefused(harness.lost.node(), NOT_FOUND);
  });

  contract("renewLease() makes the Lease and moves it forward each time", async (harness) => {
    assert.equal(await harness.renewedAt(), undefined);
    await harness.subject.renewLease();
    const first = await harness.renewedAt() ?? assert.fail("no Lease");
    await harness.pass();
    await harness.subject.renewLease();
    const second = await harness.renewedAt() ?? assert.fail("no Lease");
    assert.ok(second > first, `${second} is not after ${first}`);
  });
}
