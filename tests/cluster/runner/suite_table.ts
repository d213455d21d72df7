/**
 * Which test file runs when, and beside which others.
 *
 * @module
 */

/**
 * Where a file may run.
 *
 * - `beside`: needs the API server alone; runs beside anything but `alone`.
 * - `node`: has pods on the one node, where one market clears all of them; one at a time.
 * - `components`: needs the product with its components, which are installed once for all of them.
 * - `timed`: needs the components, and limits how many answers of the webhook are late; one at a
 *   time, with nothing beside it.
 * - `alone`: changes the installed product, cluster-scoped objects or programs, or compares the whole
 *   node; or defines kinds before the product starts, which asks for a missing kind once a minute.
 */
export type Lane = "beside" | "node" | "components" | "timed" | "alone";

/** Runs at every change, or when the commit's hash chooses the rotation. */
export type Layer = "core" | 1 | 2 | 3 | 4;

export interface SuiteFile {
  /** File name without `_test.ts`. */
  readonly name: string;
  readonly layer: Layer;
  readonly lane: Lane;
  /** Measured on two busy cores, beside others: long files start first, rotations are balanced. */
  readonly seconds: number;
}

export const ROTATIONS = 4;

type Row = readonly [name: string, layer: Layer, lane: Lane, seconds: number];

const ROWS: readonly Row[] = [
  ["market", "core", "node", 60],
  ["admission_policy", "core", "beside", 20],
  ["rbac", "core", "beside", 12],
  ["crd", "core", "beside", 28],
  ["rightsizing", "core", "components", 120],
  ["placement", "core", "timed", 180],
  ["contract", "core", "alone", 40],
  ["helm", "core", "alone", 150],

  ["demand", 1, "alone", 165],
  ["vpa", 1, "alone", 60],
  ["placement_policy", 1, "beside", 79],
  ["refusals", 1, "beside", 25],

  ["pods", 2, "node", 90],
  ["coalloc", 2, "alone", 45],
  ["unchanged", 2, "alone", 30],
  ["dashboard", 2, "node", 40],
  ["housekeeping", 2, "beside", 19],

  ["faults", 3, "alone", 170],
  ["program_pods", 3, "node", 35],

  ["second_cluster", 4, "alone", 70],
  ["rightsizing_prometheus", 4, "components", 72],
  ["server_versions", 4, "beside", 74],
];

export const SUITE_TABLE: readonly SuiteFile[] = ROWS.map(([name, layer, lane, seconds]) => ({
  name,
  layer,
  lane,
  seconds,
}));

/** The rotation that a commit's hash chooses: its first eight hexadecimal digits modulo four. */
export function rotationOf(hash: string): Exclude<Layer, "core"> {
  if (!/^[0-9a-f]{8}/i.test(hash)) {
    throw new RangeError(`Cannot choose a rotation: the commit is ${hash}, not a hash`);
  }
  return parseInt(hash.slice(0, 8), 16) % ROTATIONS + 1 as Exclude<Layer, "core">;
}

export interface RunSuiteOptions {
  readonly jobs: number;
  readonly runFile: (file: SuiteFile) => Promise<void>;
  /** Installs the product's components, for all files that need them. */
  readonly installComponents: () => Promise<AsyncDisposable>;
  readonly signal: AbortSignal;
}

/**
 * Runs files beside each other as their lanes allow: first those beside each other, and of those on
 * the node one at a time; then those with components, the timed ones last; then the others.
 */
export async function runSuite(
  files: readonly SuiteFile[],
  { jobs, runFile, installComponents, signal }: RunSuiteOptions,
): Promise<void> {
  const of = (lane: Lane): SuiteFile[] =>
    files.filter((file) => file.lane === lane).toSorted((a, b) => b.seconds - a.seconds);

  async function drain(queue: SuiteFile[], workers: number): Promise<void> {
    await Promise.all(Array.from({ length: workers }, async () => {
      for (let file = queue.shift(); file !== undefined; file = queue.shift()) {
        if (signal.aborted) return;
        await runFile(file);
      }
    }));
  }

  const [node, beside, components, timed] = [
    of("node"),
    of("beside"),
    of("components"),
    of("timed"),
  ];
  // When the node has no more files, its job is another's.
  const first = async (): Promise<void> => {
    await drain(node, 1);
    await drain(beside, 1);
  };
  await Promise.all([first(), drain(beside, jobs - 1)]);
  if (components.length + timed.length > 0 && !signal.aborted) {
    await using _installed = await installComponents();
    await drain(components, jobs);
    await drain(timed, 1);
  }
  await drain(of("alone"), 1);
}
