import assert from "node:assert/strict";
import { permissionFlags } from "./permission_flags.ts";

Deno.test({
  name: "permissionFlags() allows what the set names and never asks",
  permissions: "none",
  fn() {
    assert.deepEqual(
      permissionFlags({ read: ["/a", "/b"], net: true, write: false, env: ["X"] }),
      ["--no-prompt", "--allow-read=/a,/b", "--allow-net", "--allow-env=X"],
    );
    assert.deepEqual(permissionFlags({}), ["--no-prompt"]);
  },
});

Deno.test({
  name: "permissionFlags() refuses what would allow more or less than the set says",
  permissions: "none",
  fn() {
    const unclear = [{ read: [] }, { read: ["/a,/b"] }, { read: "/a" }, { all: true }, {
      net: [1],
    }];
    for (const set of unclear) {
      assert.throws(() => permissionFlags(set), {
        name: "SyntaxError",
        message: /: (read|all|net) is /,
      });
    }
  },
});
