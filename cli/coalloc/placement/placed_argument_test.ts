import assert from "node:assert/strict";
import { placedArgument } from "./placed_argument.ts";

Deno.test("placedArgument() reads names and kinds that are placed, and says what is wrong with others", () => {
  assert.deepEqual(placedArgument("web"), { name: "web" });
  assert.deepEqual(placedArgument("deploy/web"), { kind: "Deployment", name: "web" });
  assert.deepEqual(placedArgument("statefulset/db"), { kind: "StatefulSet", name: "db" });
  assert.match(
    String(placedArgument("ds/log")),
    /^Cannot show placement: "ds\/log" is a DaemonSet/,
  );
  assert.match(
    String(placedArgument("pod/web")),
    /^Cannot find workload: "pod\/web" is neither NAME/,
  );
});
