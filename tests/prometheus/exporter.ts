/**
 * A program with metrics, for a Prometheus to collect.
 *
 * @module
 */

/** One metric that a test sets. */
export interface Exporter extends AsyncDisposable {
  /** Address and port. */
  readonly address: string;
  /** Values by the labels of their series. */
  readonly values: Map<Readonly<Record<string, string>>, number>;
}

/** Serves the metric `name` on this address and a free port. */
export function serveExporter(
  { hostname, name }: { readonly hostname: string; readonly name: string },
): Exporter {
  const values = new Map<Readonly<Record<string, string>>, number>();
  const text = (): string =>
    Array.from(values, ([labels, value]) => `${name}{${labelText(labels)}} ${value}\n`).join("");
  const server = Deno.serve(
    { hostname, port: 0, onListen() {} },
    () => new Response(text(), { headers: { "content-type": "text/plain; version=0.0.4" } }),
  );
  return {
    address: `${hostname}:${server.addr.port}`,
    values,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Backslash, quote and line feed are escaped: the text format of Prometheus. */
function labelText(labels: Readonly<Record<string, string>>): string {
  return Object.entries(labels).map(([label, value]) => {
    const escaped = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
    return `${label}="${escaped}"`;
  }).join(",");
}
