import assert from "node:assert/strict";
import { workloadTitle, workloadWord } from "./workload_word.ts";

Deno.test({
  name: "workloadWord() reads a name, with a kind as kubectl takes it, and nothing else",
  permissions: "none",
  fn() {
    assert.deepEqual(workloadWord("web"), { name: "web" });
    for (const kind of ["deployment", "deployments", "deploy", "Deployment", "deployment.apps"]) {
      assert.deepEqual(workloadWord(`${kind}/web`), { kind: "Deployment", name: "web" }, kind);
    }
    assert.deepEqual(workloadWord("sts/db"), { kind: "StatefulSet", name: "db" });
    assert.deepEqual(workloadWord("ds/log"), { kind: "DaemonSet", name: "log" });
    assert.equal(workloadTitle({ kind: "StatefulSet", name: "db" }), "statefulset/db");
    for (const word of ["", "/", "pod/web", "shop/web", "deploy/", "/web", "a/deploy/web"]) {
      assert.equal(workloadWord(word), undefined, word);
    }
  },
});
