/**
 * `kubectl coalloc` as it ships: under its own permissions, in a process of its own.
 *
 * @module
 */

/** What it answered. */
export interface CoallocAnswer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const ENTRY = new URL("../../../cli/kubectl_coalloc.ts", import.meta.url).pathname;

/** Runs it against the cluster that `KUBECONFIG` names. */
export async function coalloc(...args: string[]): Promise<CoallocAnswer> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-q", "-P=cli", ENTRY, ...args],
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  });
  const { code, stdout, stderr } = await child.output();
  const text = new TextDecoder();
  return { code, stdout: text.decode(stdout), stderr: text.decode(stderr) };
}
