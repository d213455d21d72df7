/**
 * `kubectl coalloc`: the program on the user's machine. kubectl finds it as `kubectl-coalloc` on PATH.
 *
 * @module
 */
import { connectKubeconfig } from "../adapters/kube/kubeconfig_connection.ts";
import { systemClock as clock } from "../adapters/system_clock.ts";
import { createKubeCluster } from "./coalloc/kube/kube_cluster.ts";
import { runCoalloc } from "./coalloc/run_coalloc.ts";

if (import.meta.main) {
  const text = new TextEncoder();
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = (): void => stopping.abort();
  Deno.addSignalListener("SIGINT", stop);
  const outIsTerminal = Deno.stdout.isTerminal();
  let close = (): void => {};
  try {
    Deno.exitCode = await runCoalloc(Deno.args, {
      out: (part) => void Deno.stdout.writeSync(text.encode(part)),
      err: (part) => void Deno.stderr.writeSync(text.encode(part)),
      outIsTerminal,
      inIsTerminal: Deno.stdin.isTerminal(),
      size: () => outIsTerminal ? Deno.consoleSize() : { columns: 120, rows: 40 },
      noColor: Deno.noColor ? "1" : undefined,
      clock,
      signal,
      confirm: (question) => confirm(question),
      async connect({ kubeconfig, context }) {
        const { namespace: defaultNamespace, ...connection } = await connectKubeconfig({
          ...(kubeconfig === undefined ? {} : { path: kubeconfig }),
          ...(context === undefined ? {} : { context }),
        });
        close = () => connection.close();
        return createKubeCluster(connection, { defaultNamespace, clock, signal });
      },
    });
  } finally {
    close();
    Deno.removeSignalListener("SIGINT", stop);
  }
}
