import assert from "node:assert/strict";
import type { Node } from "../../../shared/api/node.ts";
import { sampleNode, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts, FACTS_NOW_MS } from "../../../tests/fixtures/market/bid_facts.ts";
import { nodeState } from "./node_state.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** What the rule says but its message. */
function said(change: Partial<Node> | undefined) {
  const node = change === undefined ? undefined : { ...sampleNode("node-1"), ...change };
  return nodeState(bidFacts(samplePod("web"), { node })).map(({ message, ...rest }) => {
    assert.match(message, /node-1/);
    return rest;
  });
}

test("nodeState() says nothing of a node that is Ready, under pressure, or not known", () => {
  assert.deepEqual(said({}), []);
  assert.deepEqual(said({ pressures: ["MemoryPressure"] }), []);
  assert.deepEqual(said(undefined), []);
});

test("nodeState() holds all limits on a node that is not Ready", () => {
  assert.deepEqual(said({ ready: false }), [{ reason: "NodeNotReady", held: "both" }]);
});

test("nodeState() holds all limits on a node that is on its way out", () => {
  assert.deepEqual(said({ draining: true }), [{ reason: "NodeDraining", held: "both" }]);
});

test("nodeState() lowers no limit for 10 min after a cordon, and then says nothing", () => {
  const cordoned = (agoMs: number) => said({ cordonedAtMs: FACTS_NOW_MS - agoMs });
  assert.deepEqual(cordoned(599_999), [
    { reason: "NodeCordoned", held: "lower", untilMs: FACTS_NOW_MS + 1 },
  ]);
  assert.deepEqual(cordoned(600_000), []);
});

test("nodeState() gives one reason for a node that is several", () => {
  const cordonedAtMs = FACTS_NOW_MS;
  const effects = (change: Partial<Node>) => said(change).map(({ reason }) => reason);
  assert.deepEqual(effects({ ready: false, draining: true, cordonedAtMs }), ["NodeNotReady"]);
  assert.deepEqual(effects({ draining: true, cordonedAtMs }), ["NodeDraining"]);
});
