/**
 * The command that makes a replay again. Pure.
 *
 * @module
 */
import { formatCPU } from "../../../shared/quantity.ts";
import type { SimulateRequest } from "./simulate_request.ts";

/** The command line, fit for a shell. */
export function simulateCommandLine(request: SimulateRequest): string {
  const { source: { path, format, series }, output, ...rest } = request;
  const { request: asked, originalLimit, p95Cores, costMs, sloMs, seeds, minutes } = rest;
  const chosen = series === undefined
    ? undefined
    : [...series].map(([name, value]) => `${name}=${value}`).join(",");
  const flags: readonly (readonly [flag: string, value: string | number | undefined])[] = [
    ["--trace", path],
    ["--format", format],
    ["--series", chosen],
    ["--scale-p95", p95Cores],
    ["--request", asked === undefined ? undefined : formatCPU(asked)],
    ["--limit", originalLimit === undefined ? undefined : formatCPU(originalLimit)],
    ["--cost-ms", costMs],
    ["--slo-ms", sloMs],
    ["--seeds", seeds],
    ["--minutes", minutes],
  ];
  const parts = flags.flatMap(([flag, value]) =>
    value === undefined ? [] : [flag, quoted(String(value))]
  );
  const end = output === "html" ? ["--html > page.html"] : [];
  return ["kubectl coalloc simulate", ...parts, ...end].join(" ");
}

/** As it is where a shell takes it so, else in single quotes. */
function quoted(part: string): string {
  return /^[\w./=,:@%+-]+$/.test(part) ? part : `'${part.replaceAll("'", `'\\''`)}'`;
}
