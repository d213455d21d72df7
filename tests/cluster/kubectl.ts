/**
 * kubectl, as a person or a service account, against the cluster that `KUBECONFIG` names.
 *
 * @module
 */

import { outputOf } from "./harness/shell.ts";

export interface KubectlAnswer {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Kubectl {
  /** Runs kubectl; a refusal is an answer, not an error. Objects given are its standard input. */
  run(args: readonly string[], objects?: unknown): Promise<KubectlAnswer>;
  /** As run, and resolves with standard output. Throws an `Error` with kubectl's message otherwise. */
  must(args: readonly string[], objects?: unknown): Promise<string>;
}

/** kubectl with the credentials of `KUBECONFIG`, or of the given file. */
export function createKubectl({ kubeconfig }: { readonly kubeconfig?: string } = {}): Kubectl {
  const run = async (args: readonly string[], objects?: unknown): Promise<KubectlAnswer> => {
    const user = kubeconfig === undefined ? [] : [`--kubeconfig=${kubeconfig}`];
    // JSON is YAML, so that one form serves `-f -` of every verb.
    const input = objects === undefined ? {} : { input: JSON.stringify(objects) };
    const { code, ...texts } = await outputOf(["kubectl", ...user, ...args], input);
    return { ok: code === 0, ...texts };
  };
  return {
    run,
    async must(args, objects) {
      const { ok, stdout, stderr } = await run(args, objects);
      if (!ok) throw new Error(`Cannot run kubectl ${args.join(" ")}: ${stderr.trim()}`);
      return stdout;
    },
  };
}
