import assert from "node:assert/strict";
import { isOldKubelet } from "./old_kubelet.ts";

Deno.test({
  name: "isOldKubelet() is true below 1.33 only",
  permissions: "none",
  fn() {
    assert.deepEqual(
      ["v1.32.9", "1.9.1", "v1.33.0-rc.1", "v1.36.3", "v2.0.0", "", "dev", undefined].map(
        isOldKubelet,
      ),
      [true, true, false, false, false, false, false, false],
    );
  },
});
