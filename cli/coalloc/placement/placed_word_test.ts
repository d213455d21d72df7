import assert from "node:assert/strict";
import { placedWord } from "./placed_word.ts";

Deno.test("placedWord() reads names and kinds that are placed, and says what is wrong with others", () => {
  assert.deepEqual(placedWord("web"), { name: "web" });
  assert.deepEqual(placedWord("deploy/web"), { kind: "Deployment", name: "web" });
  assert.deepEqual(placedWord("statefulset/db"), { kind: "StatefulSet", name: "db" });
  assert.match(String(placedWord("ds/log")), /^Cannot show placement: "ds\/log" is a DaemonSet/);
  assert.match(String(placedWord("pod/web")), /^Cannot find workload: "pod\/web" is neither NAME/);
});
