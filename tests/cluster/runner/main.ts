/**
 * Runs the cluster tests: brings the cluster up, installs the product, and runs test files beside each
 * other where they allow it.
 *
 * Exit codes: 0 all passed, 1 a test failed, 2 the command line was wrong, 130 it was interrupted.
 *
 * @module
 */
import { run, runForeground } from "../harness/shell.ts";
import { createKubectl } from "../kubectl.ts";
import { COMPONENTS_INSTALLED, installAllComponents } from "../scene/all_components.ts";
import { STATE_ROOT } from "../harness/instance.ts";
import { parseCommandLine, type Request } from "./command_line.ts";
import {
  addSums,
  type FileResult,
  fileTable,
  indented,
  NO_TESTS,
  resultTable,
  runFileProcess,
  summaryLine,
} from "./file_process.ts";
import { runSuite, type SuiteFile } from "./suite_table.ts";

type Chosen = Extract<Request, { readonly action: "run" | "list" }>;

const INTERRUPTED = 130;
const print = (text: string): void => console.log(text);

async function main(args: readonly string[]): Promise<number> {
  // Read before the arguments: the parser asks for it at once.
  const head = await run(["git", "rev-parse", "HEAD"]).catch(() => "");
  const request = parseCommandLine(args, () => head.trim());
  if (request.action === "text") {
    (request.exitCode === 0 ? console.log : console.error)(request.text.trimEnd());
    return request.exitCode;
  }
  const { choice, again, files, inside } = request;
  if (request.action === "list") {
    print(fileTable(files));
    return 0;
  }
  const kubeconfig = Deno.env.get("KUBECONFIG") ?? "";
  if (kubeconfig !== "" && !kubeconfig.startsWith(`${STATE_ROOT}/`)) {
    throw new Error(`Cannot run on the cluster of KUBECONFIG ${kubeconfig}: unset it`);
  }
  if (inside) return await runFiles(request);
  print(`Cluster tests: ${choice}, ${files.length} files. Again: deno task test:cluster ${again}`);
  return await fromOutside(again.split(" "), request.jobs);
}

/** Brings the cluster up, installs the product and runs this program where it can reach both. */
async function fromOutside(flags: readonly string[], jobs: number): Promise<number> {
  const deno = Deno.execPath();
  const self = [deno, "run", "-q", "-A", import.meta.filename ?? "", "--inside"];
  for (
    const step of [
      ["cluster:up"],
      ["cluster:install", "--no-follow", "--use-installed"],
      ["cluster:exec", "--", ...self, ...flags, "--jobs", `${jobs}`],
    ]
  ) {
    const code = await runForeground([deno, "task", "-q", ...step], {});
    if (code !== 0) return code;
  }
  return 0;
}

async function runFiles({ files, jobs }: Chosen): Promise<number> {
  const began = performance.now();
  const end = new AbortController();
  const interrupt = (): void => end.abort();
  Deno.addSignalListener("SIGINT", interrupt);
  Deno.addSignalListener("SIGTERM", interrupt);
  const at = (): string => `[${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s]`;
  const results: FileResult[] = [];
  let env: Readonly<Record<string, string>> = {};
  try {
    await runSuite(files, {
      jobs,
      signal: end.signal,
      async runFile(file: SuiteFile) {
        print(`${at()} ${file.name} starts`);
        const result = await runFileProcess(file, { env, signal: end.signal });
        results.push(result);
        const { sums: { passed, failed }, ms, output } = result;
        const outcome = failed === 0 ? `${passed} passed` : `FAILED, ${failed} of its tests`;
        print(indented(output));
        print(`${at()} ${file.name} ends after ${(ms / 1000).toFixed(1)} s: ${outcome}`);
      },
      async installComponents() {
        print(`${at()} components: install`);
        const installed = await installAllComponents(createKubectl());
        env = { [COMPONENTS_INSTALLED]: "1" };
        return {
          async [Symbol.asyncDispose]() {
            env = {};
            print(`${at()} components: remove`);
            await installed[Symbol.asyncDispose]();
          },
        };
      },
    });
  } finally {
    Deno.removeSignalListener("SIGINT", interrupt);
    Deno.removeSignalListener("SIGTERM", interrupt);
  }
  if (results.length > 0) print(`\n${resultTable(results)}\n`);
  const sums = results.map((one) => one.sums).reduce(addSums, NO_TESTS);
  print(summaryLine(sums, performance.now() - began));
  if (end.signal.aborted) return INTERRUPTED;
  return sums.failed === 0 && sums.passed > 0 ? 0 : 1;
}

if (import.meta.main) {
  try {
    Deno.exitCode = await main(Deno.args);
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    Deno.exitCode = 1;
  }
}
