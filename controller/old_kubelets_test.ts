import assert from "node:assert/strict";
import type { Node } from "../shared/api/node.ts";
import type { Informer } from "../shared/control/informer.ts";
import { silentLog } from "../shared/log.ts";
import { reportOldKubelets } from "./old_kubelets.ts";

Deno.test({
  name: "reportOldKubelets() reports a node once, and again after it changed",
  permissions: "none",
  fn() {
    const metadata = { name: "n", uid: "u", resourceVersion: "1" };
    const node: Node = { metadata, allocatableCPU: 1000, ready: true, pressures: [] };
    const nodes = new Map<string, Node>();
    let listener = (_key: string): void => {};
    const informer: Pick<Informer<Node>, "get" | "subscribe"> = {
      get: (key) => nodes.get(key),
      subscribe(onChange) {
        listener = onChange;
        return () => {};
      },
    };
    const logged: unknown[] = [];
    const log = {
      ...silentLog,
      warn: (_text: string, fields?: object) => void logged.push(fields),
    };
    reportOldKubelets(informer, log);
    for (const kubeletVersion of ["v1.30.1", "v1.30.1", "v1.33.1", "v1.30.1"]) {
      nodes.set("n", { ...node, kubeletVersion });
      listener("n");
    }
    listener("gone");
    assert.deepEqual(logged, Array(2).fill({ node: "n", kubelet: "v1.30.1" }));
  },
});
