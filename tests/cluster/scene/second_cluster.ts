/**
 * A cluster of the harness beside the one of the other tests, for what would disturb those.
 *
 * @module
 */
import { instanceNamed } from "../harness/instance.ts";
import { run } from "../harness/shell.ts";

const MAIN = new URL("../harness/main.ts", import.meta.url).pathname;
const NEEDED = ["run", "read", "write", "env", "sys"] as const;

/** Whether one may be brought up: as root, with all permissions, in tests against the harness. */
export function canRunHarness(name: string): boolean {
  if (NEEDED.some((one) => Deno.permissions.querySync({ name: one }).state !== "granted")) {
    return false;
  }
  const kubeconfig = Deno.env.get("KUBECONFIG") ?? "";
  return Deno.uid() === 0 && kubeconfig.startsWith(`${instanceNamed(name).stateRoot}/`);
}

/** Runs a command of the harness, such as `up --name second`. */
export function harness(...args: string[]): Promise<string> {
  // Without these variables of the cluster that this runs in.
  const env = { KUBECONFIG: "", COALLOCATOR_CLUSTER: "" };
  return run([Deno.execPath(), "run", "-q", "-A", MAIN, ...args], { env });
}
