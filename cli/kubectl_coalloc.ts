/**
 * `kubectl coalloc`: the program on the user's machine. kubectl finds it as `kubectl-coalloc` on PATH.
 *
 * @module
 */
import "../adapters/node_require.ts";
import { createRangeQueries } from "../adapters/prometheus/range_queries.ts";
import { systemClock as clock } from "../adapters/system_clock.ts";
import { defined } from "../shared/defined.ts";
import { createKubeCluster } from "./coalloc/kube/kube_cluster.ts";
import { runCoalloc } from "./coalloc/run_coalloc.ts";
import { openInBrowser } from "./terminal/browser.ts";
import { listenForInterrupt } from "./terminal/interrupt.ts";
import { writeWhole } from "./terminal/terminal_text.ts";

if (import.meta.main) {
  const interrupt = listenForInterrupt(Deno);
  const { signal } = interrupt;
  const outIsTerminal = Deno.stdout.isTerminal();
  const env = (name: string): string | undefined => Deno.env.get(name);
  let close = (): void => {};
  try {
    Deno.exitCode = await runCoalloc(Deno.args, {
      out: (part) => writeWhole(part, Deno.stdout),
      err: (part) => writeWhole(part, Deno.stderr),
      outIsTerminal,
      errIsTerminal: Deno.stderr.isTerminal(),
      inIsTerminal: Deno.stdin.isTerminal(),
      size: () => outIsTerminal ? Deno.consoleSize() : { columns: 120, rows: 40 },
      noColor: Deno.noColor ? "1" : undefined,
      clock,
      signal,
      confirm: (question) => interrupt.runBlocking(() => confirm(question)),
      runBlocking: (job) => interrupt.runBlocking(job),
      browse: openInBrowser,
      readFile: (path) =>
        path === "-" ? new Response(Deno.stdin.readable).bytes() : Deno.readFile(path),
      // Prometheus itself gives a query two minutes.
      queryRange: createRangeQueries({ program: "kubectl", timeoutMs: 120_000 }).ask,
      async contexts(path) {
        const { contextNames } = await import("../adapters/kube/client/user_kubeconfig.ts");
        return contextNames({ ...defined({ path }), env });
      },
      async connect({ kubeconfig: path, context, impersonation }) {
        // Loaded here since only commands that need a cluster wait for this package.
        const { connectUser } = await import("../adapters/kube/client/user_connection.ts");
        const connection = connectUser(
          { ...defined({ path, context, impersonation }), env, program: "kubectl" },
        );
        close = () => connection.close();
        return createKubeCluster(connection, { clock, signal });
      },
    });
  } finally {
    close();
    interrupt.end();
  }
  // An open request, for instance a port-forward, would delay the end by seconds.
  if (signal.aborted) Deno.exit();
}
