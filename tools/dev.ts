/**
 * Builds the images, loads them into a Kind cluster, deploys, waits and follows the logs:
 * `deno task dev`; with `--no-follow` it ends there. A Kind cluster that `KUBECONFIG` names is used as
 * it is; inside of the harness's node images are made without Docker. With `--use-installed` another
 * cluster is taken with what is installed there.
 *
 * @module
 */
import { devPlan } from "./dev/dev_plan.ts";

const root = new URL("../", import.meta.url);

/** What a program prints, or undefined where it is not there or fails. */
async function answer(program: string, ...args: string[]): Promise<string | undefined> {
  try {
    const command = new Deno.Command(program, { args, stderr: "null", stdin: "null" });
    const { success, stdout } = await command.output();
    return success ? new TextDecoder().decode(stdout).trim() : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

const [docker, daemon, kind, kubectl, clusters, context] = await Promise.all([
  answer("docker", "--version"),
  answer("docker", "info"),
  answer("kind", "version"),
  answer("kubectl", "version", "--client"),
  answer("kind", "get", "clusters"),
  Deno.env.get("KUBECONFIG") ? answer("kubectl", "config", "current-context") : undefined,
]);
const found = { docker, kind, kubectl };
const harness = Deno.env.get("COALLOCATOR_CLUSTER");
const plan = devPlan({
  installed: new Set(
    Object.entries(found).filter(([, state]) => state !== undefined).map(([name]) => name),
  ),
  dockerRuns: daemon !== undefined,
  kindClusters: clusters?.split("\n") ?? [],
  follow: !Deno.args.includes("--no-follow"),
  useInstalled: Deno.args.includes("--use-installed"),
  ...(harness === undefined ? {} : { harness }),
  ...(context === undefined ? {} : { context }),
});
if ("problem" in plan) {
  console.error(plan.problem);
  Deno.exit(1);
}
for (const { about, command: [program, ...args] } of plan.steps) {
  console.log(`== ${about}: ${program} ${args.join(" ")}`);
  // "deno" is this very one, wherever it is installed.
  const path = program === "deno" ? Deno.execPath() : program;
  const { code } = await new Deno.Command(path, { args, cwd: root }).spawn().status;
  if (code === 0) continue;
  console.error(`Cannot go on: ${program} ended with code ${code}`);
  Deno.exit(1);
}
