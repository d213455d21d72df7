/**
 * Builds the images, loads them into a Kind cluster, deploys, waits and follows the logs:
 * `deno task dev`; with `--no-follow` it ends there. A Kind cluster that `KUBECONFIG` names is used as
 * it is; inside of the harness's node images are made without Docker. With `--use-installed` another
 * cluster is taken with what is installed there.
 *
 * @module
 */
import { Command } from "commander";

/** The machine's programs and clusters, and the flags. */
export interface DevInput {
  /** Programs that are installed. */
  readonly installed: ReadonlySet<string>;
  /** Whether Docker's daemon answers. @default {true} */
  readonly dockerRuns?: boolean;
  /** Name of the harness's cluster that this runs in; absent elsewhere. */
  readonly harness?: string;
  /** Current context, when `KUBECONFIG` names a cluster; absent otherwise. */
  readonly context?: string;
  /** Names of Kind's clusters. */
  readonly kindClusters: readonly string[];
  /** Whether to follow the logs in the end. */
  readonly follow: boolean;
  /** Whether another cluster than Kind's is taken with what is installed there. @default {false} */
  readonly useInstalled?: boolean;
}

/** One command, and what it is for. */
export interface DevStep {
  readonly about: string;
  readonly command: readonly [program: string, ...args: string[]];
}

/** The commands in order, or why it can't be done and what would help. */
export type DevPlan = { readonly steps: readonly DevStep[] } | { readonly problem: string };

/** Name in manifests/kind/cluster.yaml. */
const KIND_CLUSTER = "coallocator";
const IMAGES = ["mbcas-agent", "mbcas-controller"] as const;
const NAMESPACE = ["--namespace", "mbcas-system"];
const WORKLOADS = ["daemonset/mbcas-agent", "deployment/mbcas-controller"] as const;

const REMEDIES: Readonly<Record<string, string>> = {
  docker: "install Docker Engine (docs.docker.com/engine/install)",
  kind: "install Kind 0.31 or newer (kind.sigs.k8s.io)",
  kubectl: "install kubectl 1.32 or newer (kubernetes.io/docs/tasks/tools)",
};

/** Builds, loads, deploys, waits, and follows the logs if asked to. */
export function devPlan(found: DevInput): DevPlan {
  const { installed, harness, context, kindClusters, follow, useInstalled = false } = found;
  const { dockerRuns = true } = found;
  const foreign = harness === undefined && context !== undefined && !context.startsWith("kind-");
  const needed = harness === undefined && !foreign ? ["docker", "kind", "kubectl"] : ["kubectl"];
  const missing = needed.filter((program) => !installed.has(program));
  if (missing.length > 0) {
    const remedies = missing.map((program) => `${program} is missing: ${REMEDIES[program]}`);
    return { problem: `Cannot run dev: ${remedies.join("; ")}` };
  }
  if (needed.includes("docker") && !dockerRuns) {
    return {
      problem: "Cannot run dev: Docker's daemon does not answer; start it, or join the group " +
        "docker if docker info says that permission is denied",
    };
  }
  if (harness !== undefined) {
    const load: DevStep = {
      about: "Build images without Docker and load them",
      command: ["deno", "task", "image:local", "--load"],
    };
    return { steps: [load, ...deploySteps([], { follow })] };
  }
  if (foreign && useInstalled) return { steps: waitSteps(["--context", context]) };
  if (foreign) {
    return {
      problem: `Cannot run dev: the context ${context} is not a Kind cluster, so images can't be ` +
        "loaded into it; unset KUBECONFIG for a new Kind cluster, or push images and apply " +
        "manifests/overlays/release",
    };
  }
  const cluster = context?.slice("kind-".length) ?? KIND_CLUSTER;
  const create: DevStep = {
    about: "Create a Kind cluster",
    command: ["kind", "create", "cluster", "--config", "manifests/kind/cluster.yaml"],
  };
  return {
    steps: [
      ...(kindClusters.includes(cluster) ? [] : [create]),
      ...IMAGES.map((image): DevStep => ({
        about: `Build ${image}`,
        command: ["docker", "build", "--target", image.slice(6), "--tag", `${image}:dev`, "."],
      })),
      {
        about: "Load the images into the nodes",
        command: [
          ...["kind", "load", "docker-image", "--name", cluster] as const,
          ...IMAGES.map((image) => `${image}:dev`),
        ],
      },
      ...deploySteps(["--context", `kind-${cluster}`], { follow }),
    ],
  };
}

function deploySteps(
  context: readonly string[],
  { follow }: { readonly follow: boolean },
): DevStep[] {
  const kubectl = (about: string, ...args: string[]): DevStep => ({
    about,
    command: ["kubectl", ...context, ...args],
  });
  const followLogs = kubectl(
    "Follow the logs; Ctrl-C ends this, not the programs",
    ...[...NAMESPACE, "logs", "--follow", "--prefix", "--tail=20", "--max-log-requests=50"],
    "--selector=app.kubernetes.io/part-of=coallocator",
  );
  return [
    kubectl("Apply the manifests", "apply", "-k", "manifests/overlays/kind"),
    // The tag stays the same: without a restart the old image would go on running.
    kubectl("Restart", ...NAMESPACE, "rollout", "restart", ...WORKLOADS),
    ...waitSteps(context),
    ...(follow ? [followLogs] : []),
  ];
}

function waitSteps(context: readonly string[]): DevStep[] {
  const args = [...context, ...NAMESPACE, "rollout", "status"];
  return WORKLOADS.map((workload) => ({
    about: `Wait for ${workload}`,
    command: ["kubectl", ...args, workload, "--timeout=180s"],
  }));
}

/** The command line; anything else is an error, so that a slip does not build and deploy. */
export function devCommand(): Command {
  return new Command("dev")
    .description(
      "Builds the images, loads them into Kind, or into the node of cluster:up, deploys, waits and " +
        "follows the logs.",
    )
    .option("--no-follow", "end when everything runs")
    .option(
      "--use-installed",
      "take another cluster than Kind's, with what is installed there",
      false,
    );
}

/** Output of a program, or undefined where it is not there or fails. */
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

if (import.meta.main) {
  const { follow, useInstalled } = devCommand().parse(Deno.args, { from: "user" })
    .opts<{ follow: boolean; useInstalled: boolean }>();
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
    ...{ follow, useInstalled },
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
    const { code } = await new Deno.Command(path, { args, cwd: new URL("../", import.meta.url) })
      .spawn().status;
    if (code === 0) continue;
    console.error(`Cannot go on: ${program} ended with code ${code}`);
    Deno.exit(1);
  }
}
