import assert from "node:assert/strict";
import { workloadArgument, workloadTitle } from "./workload_argument.ts";

Deno.test({
  name: "workloadArgument() reads a name, with a kind as kubectl takes it, and nothing else",
  permissions: "none",
  fn() {
    assert.deepEqual(workloadArgument("web"), { name: "web" });
    for (const kind of ["deployment", "deployments", "deploy", "Deployment", "deployment.apps"]) {
      assert.deepEqual(workloadArgument(`${kind}/web`), { kind: "Deployment", name: "web" }, kind);
    }
    assert.deepEqual(workloadArgument("sts/db"), { kind: "StatefulSet", name: "db" });
    assert.deepEqual(workloadArgument("ds/log"), { kind: "DaemonSet", name: "log" });
    assert.equal(workloadTitle({ kind: "StatefulSet", name: "db" }), "statefulset/db");
    for (const word of ["", "/", "pod/web", "shop/web", "deploy/", "/web", "a/deploy/web"]) {
      assert.equal(workloadArgument(word), undefined, word);
    }
  },
});
