/**
 * The CPU request that the kubelet wrote into a cgroup's weight.
 *
 * Three formulas are in use. The kubelet turns a request into shares, request × 1024 / 1000 and at
 * least 2 (pkg/kubelet/cm/helpers_linux.go, `MilliCPUToShares`), and at the level of the pod turns
 * those into a weight by the line of KEP-2254: weight = 1 + (shares − 2) × 9999 / 262142. At the
 * level of the container the runtime does the latter, and newer runc and crun use a curve through
 * shares 1024 = weight 100 instead: log10(weight) = (l² + 125 l) / 612 − 7 / 34 with l = log2(shares)
 * (opencontainers/cgroups, `ConvertCPUSharesToCgroupV2Value`). So a container's weight means two
 * things, and only the pod's is certain.
 *
 * Worked values: request 100 m = 102 shares = weight 4 by the line, 17 by the curve; one step of the
 * line is 26 shares, so requests read back from it are up to 26 m off.
 *
 * @module
 */
import { malformed, parseCounter, soleLine } from "./counter_text.ts";

/** The least shares the kernel takes, which stand for no request at all. */
const SHARES_OF_NO_REQUEST = 2;

/** Millicores requested, from the text of `cpu.shares` (version 1). Throws a `SyntaxError`. */
export function parseCpuShares(text: string): number {
  const file = "cpu.shares";
  return requestOfShares(parseCounter(soleLine(text, file), { file, line: 1 }));
}

/** The weight, 1 to 10,000, from the text of `cpu.weight` (version 2). Throws a `SyntaxError`. */
export function parseCpuWeight(text: string): number {
  const file = "cpu.weight";
  const line = soleLine(text, file);
  const weight = parseCounter(line, { file, line: 1 });
  // 0 is what an idle cgroup (cpu.idle) reads as: no claim at all, as little as weight 1.
  if (weight > 10_000) {
    throw malformed(line, { file, line: 1, expected: "a weight from 0 to 10000" });
  }
  return Math.max(1, weight);
}

/** Millicores requested, from a weight that the kubelet's line made. */
export function requestOfLinearWeight(weight: number): number {
  return requestOfShares(2 + (weight - 1) * 262142 / 9999);
}

/** Millicores requested, from a weight that a newer runtime's curve made. */
export function requestOfCurvedWeight(weight: number): number {
  const log = Math.log10(weight) + 7 / 34;
  const l = (Math.sqrt(125 ** 2 + 4 * 612 * log) - 125) / 2;
  return requestOfShares(2 ** l);
}

function requestOfShares(shares: number): number {
  // The curve gives 2 shares as 2.0000000000000004.
  return shares <= SHARES_OF_NO_REQUEST + 1e-9 ? 0 : shares * 1000 / 1024;
}
