/**
 * A namespace that the tests of one file share: what takes its time is waited for once, in parallel.
 *
 * @module
 */
import { openRealNode, type PodName, type RealNode } from "./real_node.ts";
import {
  type NamespaceMarks,
  type ScratchNamespace,
  scratchNamespace,
} from "./scratch_namespace.ts";

/** The namespace; its members may be used in tests only. */
export interface SharedNamespace {
  readonly name: string;
  /** The name of a pod in it. */
  pod(name: string): PodName;
}

/** Is there from before the first test of the file until after the last; `fill` puts pods into it. */
export function sharedNamespace(
  fill: (node: RealNode, namespace: SharedNamespace) => Promise<void>,
  marks: NamespaceMarks = {},
): SharedNamespace {
  const stage: { namespace?: ScratchNamespace; failed?: true } = {};
  const shared: SharedNamespace = {
    get name() {
      if (stage.namespace === undefined) {
        throw new Error("Cannot name it: there is no namespace yet");
      }
      return stage.namespace.name;
    },
    pod: (name) => ({ namespace: shared.name, name }),
  };
  Deno.test.beforeAll(async () => {
    using node = await openRealNode();
    stage.namespace = await scratchNamespace(node.connection, marks);
    try {
      await fill(node, shared);
    } catch (error) {
      // Without a first test there is no "after the last".
      stage.failed = true;
      await stage.namespace[Symbol.asyncDispose]();
      throw error;
    }
  });
  Deno.test.afterAll(async () => {
    // A second clean-up would hide why the first test has not run.
    if (!stage.failed) await stage.namespace?.[Symbol.asyncDispose]();
  });
  return shared;
}
