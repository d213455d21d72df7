/**
 * kubectl, as a person or a service account, against the cluster that `KUBECONFIG` names.
 *
 * @module
 */

/** What kubectl answered. */
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

/** The account of the token, and what it is bound to. */
export interface TokenOptions {
  readonly namespace: string;
  readonly serviceAccount: string;
  /** Node that the token is bound to, as those of pods are. */
  readonly node?: string;
}

/**
 * kubectl with a fresh token of a service account and nothing else: a client certificate beside it
 * would win. The second value is the kubeconfig's path, to be removed by the caller.
 */
export async function kubectlAsServiceAccount(
  admin: Kubectl,
  { namespace, serviceAccount, node }: TokenOptions,
): Promise<readonly [kubectl: Kubectl, path: string]> {
  const bound = node === undefined
    ? []
    : ["--bound-object-kind=Node", `--bound-object-name=${node}`];
  const token = await admin.must(["create", "token", serviceAccount, "-n", namespace, ...bound]);
  const config = JSON.parse(
    await admin.must(["config", "view", "--raw", "--minify", "--flatten", "-o", "json"]),
  );
  config.users[0].user = { token: token.trim() };
  const path = await Deno.makeTempFile({ suffix: ".kubeconfig" });
  await Deno.writeTextFile(path, JSON.stringify(config));
  return [createKubectl({ kubeconfig: path }), path];
}
