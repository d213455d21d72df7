import assert from "node:assert/strict";
import { countReversals } from "./reversals.ts";

Deno.test({
  name: "countReversals() counts turns of each pod by itself",
  permissions: "none",
  fn() {
    const up = (pod: string) => ({ pod, from: 100, to: 200 });
    const down = (pod: string) => ({ pod, from: 200, to: 100 });
    assert.equal(countReversals([]), 0);
    assert.equal(countReversals([up("a"), up("a"), down("b")]), 0);
    assert.equal(countReversals([up("a"), down("b"), down("a"), up("b"), up("a")]), 3);
    const still = { pod: "a", from: 200, to: 200 };
    assert.equal(countReversals([up("a"), still, up("a")]), 0);
  },
});
