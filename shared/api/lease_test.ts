import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { agentLeaseRef, nodeOfAgentLease } from "./lease.ts";

pure("nodeOfAgentLease() reads back what agentLeaseRef() names, and no other lease", () => {
  const metadata = (name: string) => ({
    metadata: { name, namespace: "mbcas-system", uid: "", resourceVersion: "" },
  });
  const { name, namespace } = agentLeaseRef("node-1.example.com");
  assert.equal(namespace, "mbcas-system");
  assert.equal(nodeOfAgentLease(metadata(name)), "node-1.example.com");
  assert.equal(nodeOfAgentLease(metadata("mbcas-controller")), undefined);
  assert.equal(nodeOfAgentLease(metadata("mbcas-agent-")), undefined);
});
