import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { permissionFlags } from "./permission_flags.ts";

pure("permissionFlags() allows what the set names and never asks", () => {
  assert.deepEqual(
    permissionFlags({ read: ["/a", "/b"], net: true, write: false, env: ["X"] }),
    ["--no-prompt", "--allow-read=/a,/b", "--allow-net", "--allow-env=X"],
  );
  assert.deepEqual(permissionFlags({}), ["--no-prompt"]);
});

pure("permissionFlags() refuses what would allow more or less than the set says", () => {
  const unclear = [{ read: [] }, { read: ["/a,/b"] }, { read: "/a" }, { all: true }, {
    net: [1],
  }];
  for (const set of unclear) {
    assert.throws(() => permissionFlags(set), {
      name: "SyntaxError",
      message: /: (read|all|net) is /,
    });
  }
});
