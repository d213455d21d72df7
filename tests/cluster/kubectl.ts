/**
 * kubectl, as a person or a service account, against the cluster that `KUBECONFIG` names.
 *
 * @module
 */

export interface KubectlAnswer {
  readonly ok: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** A kubectl with its credentials. */
export interface Kubectl {
  /** Runs kubectl; a refusal is an answer, not an error. Objects given are its standard input. */
  run(args: readonly string[], objects?: unknown): Promise<KubectlAnswer>;
  /** As run, and resolves with standard output. Throws an `Error` with kubectl's message otherwise. */
  must(args: readonly string[], objects?: unknown): Promise<string>;
}

/** kubectl with the credentials of `KUBECONFIG`, or of the given file. */
export function createKubectl({ kubeconfig }: { readonly kubeconfig?: string } = {}): Kubectl {
  const run = async (args: readonly string[], objects?: unknown): Promise<KubectlAnswer> => {
    const child = new Deno.Command("kubectl", {
      args: kubeconfig === undefined ? [...args] : [`--kubeconfig=${kubeconfig}`, ...args],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    const input = child.stdin.getWriter();
    // JSON is YAML, so that one form serves `-f -` of every verb.
    if (objects !== undefined) await input.write(new TextEncoder().encode(JSON.stringify(objects)));
    await input.close();
    const { success, stdout, stderr } = await child.output();
    const text = new TextDecoder();
    return { ok: success, stdout: text.decode(stdout), stderr: text.decode(stderr) };
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
