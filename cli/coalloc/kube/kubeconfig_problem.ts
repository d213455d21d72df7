/**
 * A kubeconfig that can't be read, in a sentence that says what to do.
 *
 * @module
 */
import { join } from "node:path";

/** Where the kubeconfig was looked for. */
export interface KubeconfigPlace {
  /** The file that the user has named. */
  readonly path?: string | undefined;
  /** Reads a variable of the environment. */
  readonly env: (name: string) => string | undefined;
}

/**
 * The sentence; undefined when something else is wrong. Other files, for instance certificates, are
 * missed with the same class of error, so the error must speak of this file.
 */
export function kubeconfigProblem(
  error: unknown,
  { path, env }: KubeconfigPlace,
): string | undefined {
  if (!(error instanceof Error)) return undefined;
  const listed = path === undefined ? env("KUBECONFIG") : path;
  const files = [
    listed || join(env("HOME") ?? "", ".kube", "config"),
    ...(path === undefined ? (listed ?? "").split(/[:;]/) : []),
  ];
  const file = files.find((one) => one !== "" && error.message.endsWith(`readfile '${one}'`));
  if (file === undefined) return undefined;
  const state = error instanceof Deno.errors.NotFound
    ? "it is not there"
    : error.message.replace(/: readfile '.*'$/s, "");
  return `Cannot read the kubeconfig ${file}: ${state}; give --kubeconfig or set KUBECONFIG`;
}
