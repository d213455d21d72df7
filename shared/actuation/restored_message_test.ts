import assert from "node:assert/strict";
import { restoredCause, restoredMessage } from "./restored_message.ts";

Deno.test({
  name: "restoredCause() reads the word that restoredMessage() wrote, and no other",
  permissions: "none",
  fn() {
    const message = restoredMessage({
      reason: "AgentSilent",
      message: "VPA Web: the node's agent has not renewed its lease",
    });
    assert.equal(restoredCause(message), "AgentSilent");
    const old = "the user's own limits are back: the node's agent has not renewed its lease";
    for (const other of ["", old, "the server says: Restored: no", message.slice(4)]) {
      assert.equal(restoredCause(other), undefined, other);
    }
  },
});
