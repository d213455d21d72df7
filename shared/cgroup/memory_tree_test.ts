import { cgroupTreeContract } from "../../tests/contract/cgroup_tree_contract.ts";
import { createMemoryTree } from "./memory_tree.ts";

cgroupTreeContract("createMemoryTree()", () => {
  const tree = createMemoryTree();
  return { tree, write: tree.write, remove: tree.remove, [Symbol.dispose]: () => {} };
});
