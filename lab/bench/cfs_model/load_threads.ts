/**
 * The processes that keep the CPUs of `bench:cfs-model` busy, as many as it wants threads.
 *
 * @module
 */
import { type LoadOrder, type ThreadClocks, threadClocks } from "./load.ts";

/** Processes that work as instructed. */
export interface LoadThreads extends AsyncDisposable {
  readonly pids: readonly number[];
  readonly clocks: ThreadClocks;
  /** Gives the order to the first `threads` of them; resolves when all are done. */
  run(threads: number, order: LoadOrder): Promise<void>;
}

/** V8 without threads of its own; neither checks for updates nor configuration. */
const FLAGS = "run --quiet --no-config --no-lock --v8-flags=--single-threaded --allow-ffi";

/** Starts as many processes; resolves when they are ready. */
export async function startLoad(count: number): Promise<LoadThreads> {
  const program = new URL("load.ts", import.meta.url).pathname;
  const children = Array.from({ length: count }, () =>
    new Deno.Command(Deno.execPath(), {
      args: [...FLAGS.split(" "), program],
      env: { DENO_NO_UPDATE_CHECK: "1" },
      stdin: "piped",
      stdout: "piped",
    }).spawn());
  const threads = children.map((child) => ({
    child,
    writer: child.stdin.getWriter(),
    reader: child.stdout.getReader(),
  }));
  const answers = async (some: typeof threads): Promise<void> => {
    for (const { reader } of some) {
      if ((await reader.read()).done) throw new Error("Cannot load the CPUs: a process has ended");
    }
  };
  const stop = async (): Promise<void> => {
    for (const { child, writer, reader } of threads) {
      try {
        child.kill("SIGKILL");
      } catch {
        // It has ended already.
      }
      await child.status;
      await reader.cancel();
      await writer.abort().catch(() => {});
    }
  };
  try {
    await answers(threads);
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    pids: children.map(({ pid }) => pid),
    clocks: threadClocks(),
    async run(some, order) {
      const line = new TextEncoder().encode(`${JSON.stringify(order)}\n`);
      const working = threads.slice(0, some);
      for (const { writer } of working) await writer.write(line);
      await answers(working);
    },
    [Symbol.asyncDispose]: stop,
  };
}
