import assert from "node:assert/strict";
import type { Pod } from "../../../shared/api/pod.ts";
import { sampleContainer, samplePod } from "../../../tests/contract/sample_objects.ts";
import { takenOver } from "./other_writers.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function pod(limitCPU: number, limitManagers?: readonly string[]): Pod {
  const managers = limitManagers === undefined ? {} : { limitManagers };
  const proxy = sampleContainer({ name: "proxy", limitCPU: 50, limitManagers: ["mbcas"] });
  return samplePod("web", { containers: [sampleContainer({ limitCPU, ...managers }), proxy] });
}

const RECORD = [{ name: "app", cpu: "200m" }, { name: "proxy", cpu: "80m" }];

test("takenOver() takes another manager's value, for that container alone", () => {
  assert.deepEqual(takenOver(RECORD, pod(600, ["kubectl-patch"])), {
    originals: [{ name: "app", cpu: "600m" }, { name: "proxy", cpu: "80m" }],
    changes: [{ container: "app", from: "200m", to: "600m", manager: "kubectl-patch" }],
  });
});

test("takenOver() takes a value that somebody applied beside this product", () => {
  const taken = takenOver(RECORD, pod(600, ["argocd", "mbcas"]));
  assert.deepEqual(taken?.changes.map(({ to, manager }) => [to, manager]), [["600m", "argocd"]]);
});

test("takenOver() goes by managers, not by values", () => {
  assert.equal(takenOver(RECORD, pod(600, ["mbcas"])), undefined);
  // Brought back by a command that had read an older record: the record stands.
  assert.equal(takenOver(RECORD, pod(600, ["mbcas-restore"])), undefined);
  assert.equal(takenOver(RECORD, pod(600)), undefined);
  assert.equal(takenOver(RECORD, pod(200, ["kubectl-patch"])), undefined);
});

test("takenOver() takes a limit for a container that had none", () => {
  const taken = takenOver([{ name: "app" }, { name: "proxy", cpu: "80m" }], pod(600, ["kubectl"]));
  assert.deepEqual(taken?.changes, [{ container: "app", to: "600m", manager: "kubectl" }]);
  assert.deepEqual(taken?.originals[0], { name: "app", cpu: "600m" });
});
