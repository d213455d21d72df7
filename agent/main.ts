/**
 * The agent: wiring.
 *
 * Exit codes: 0 done, 1 the node could not be read, 2 the command line was wrong.
 *
 * @module
 */
import { openCgroupTree } from "../adapters/cgroup_files.ts";
import { systemClock } from "../adapters/system_clock.ts";
import { NO_LAYOUT } from "../shared/cgroup/layout.ts";
import type { Clock } from "../shared/clock.ts";
import { parseCommandLine } from "./command_line.ts";
import { lookOnce } from "./look_once.ts";
import { nodeTable } from "./node_table.ts";

/** Where the program's texts go, and its time. */
export interface Surroundings {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly clock: Clock;
}

/**
 * Runs the agent with these arguments; resolves with the exit code. Rejects only for a fault of the
 * program. Files that cannot be used are warned of on `err`; the rest of the node is still shown.
 */
export async function runAgent(
  args: readonly string[],
  { out, err, clock }: Surroundings,
): Promise<number> {
  const request = parseCommandLine(args);
  if (!("config" in request)) {
    (request.exitCode === 0 ? out : err)(request.text);
    return request.exitCode;
  }
  const { config } = request;
  using tree = openCgroupTree(config.cgroupRoot);
  try {
    const view = await lookOnce(
      { tree, clock, fallbackCores: navigator.hardwareConcurrency },
      config,
    );
    for (const warning of view.warnings) err(`${warning}\n`);
    out(config.json ? `${JSON.stringify(view, null, 2)}\n` : nodeTable(view));
    return 0;
  } catch (error) {
    if (!isNodeError(error)) throw error;
    err(`${error.message}\n`);
    return 1;
  }
}

/** Errors that the node or the user's rights cause; all others are faults of the program. */
function isNodeError(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  return error.cause === NO_LAYOUT || error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotCapable || error instanceof Deno.errors.PermissionDenied ||
    isSystemError(error);
}

/** Whether the operating system refused, with EIO or EMFILE for instance. */
function isSystemError(error: Error): boolean {
  return "code" in error && typeof error.code === "string" && /^E[A-Z0-9]+$/.test(error.code);
}

if (import.meta.main) {
  const text = new TextEncoder();
  Deno.exitCode = await runAgent(Deno.args, {
    out: (part) => void Deno.stdout.writeSync(text.encode(part)),
    err: (part) => void Deno.stderr.writeSync(text.encode(part)),
    clock: systemClock,
  });
}
