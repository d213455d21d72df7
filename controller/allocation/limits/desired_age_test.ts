import assert from "node:assert/strict";
import {
  sampleAllocation,
  sampleDesired,
  samplePod,
} from "../../../tests/contract/sample_objects.ts";
import { isExpired } from "./desired_age.ts";

Deno.test({
  name: "isExpired() lets old limits count only where the agent was heard, whatever its clock says",
  permissions: "none",
  fn() {
    const pod = samplePod("web");
    const expired = (
      clearedAt: string | undefined,
      { heard = false, agentSilentAfterMs = 300_000 } = {},
    ): boolean => {
      const { market, ...desired } = sampleDesired("300m");
      assert.ok(market);
      const stamped = clearedAt === undefined ? market : { ...market, clearedAt };
      const bare = sampleAllocation(pod);
      const allocation = { ...bare, spec: { ...bare.spec, ...desired, market: stamped } };
      return isExpired({ pod, allocation }, {
        config: { agentSilentAfterMs },
        heardSinceStart: () => heard,
        wallMs: Date.UTC(2026, 0, 1, 0, 1),
      });
    };
    assert.equal(expired("2026-01-01T00:00:30Z"), false);
    assert.equal(expired("2026-01-01T00:00:29Z"), true);
    assert.equal(expired("2026-01-01T00:00:29Z", { heard: true }), false);
    assert.equal(expired("2026-01-01T00:00:45Z", { agentSilentAfterMs: 10_000 }), true);
    // A clock that is ahead makes nothing young for ever.
    assert.equal(expired("2026-01-01T00:01:30Z"), false);
    assert.equal(expired("2026-01-01T00:02:00Z"), true);
    for (const none of [undefined, "soon"]) {
      assert.equal(expired(none), true);
      assert.equal(expired(none, { heard: true }), false);
    }
  },
});
