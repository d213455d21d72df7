/** The sentences of `simulate --policy`. */
import { assertTexts } from "../../../../tests/fixtures/assert_sentences.ts";
import { sceneTest } from "../../../../tests/fixtures/cli/coalloc_scene.ts";

/** Two days and an hour, a value each hour: 0.2 of a unit, and 1 at noon. */
function days(unit: number): string {
  return Array.from(
    { length: 49 },
    (_, hour) => `${3600 * hour},${unit * (hour % 24 === 12 ? 1 : 0.2)}`,
  )
    .join("\n");
}

const policy = (mode: string, updateStrategy: string): string => `
kind: OptimizationPolicy
metadata: {name: web}
spec:
  mode: ${mode}
  metricsConfig: {provider: prometheus, percentile: P90, minSamples: 1}
  selector: {namespaces: {allow: [shop]}}
  resourceBounds: {cpu: {min: 50m, max: 4}, memory: {min: 64Mi, max: 4Gi}}
  updateStrategy: {${updateStrategy}}
`;

sceneTest("sentences of simulate --policy", async (scene) => {
  const files = {
    "only.yaml": policy("Recommend", ""),
    "limits.yaml": policy("Auto", "updateRequestsOnly: false"),
    "two.yaml": `${policy("Auto", "")}---${policy("Auto", "")}`,
    "cpu.csv": days(1),
    "memory.csv": days(1e9),
    "flat.csv": days(1e9).replaceAll(/,.*/g, ",9e8"),
    "short.csv": "0,1\n60,1\n120,1\n180,1\n",
    "rps.txt": "1\n2\n3\n",
  };
  for (const [path, text] of Object.entries(files)) scene.files.set(path, text);
  /** Errors, or the page without its plot and table. */
  const replayed = (...args: readonly string[]) => async (): Promise<string> => {
    scene.out = scene.err = "";
    await scene.run(
      "simulate",
      ...["--policy", "--history"].flatMap((flag, index) => (
        args[index] === undefined ? [] : [flag, args[index]]
      )),
      ...args.slice(2),
    );
    return scene.err || scene.out.split("\n").filter((line) => line.endsWith(".")).join("\n");
  };
  const cores = ["--format", "cores"];
  const memory = [...cores, "--resource", "memory"];
  await assertTexts(
    {
      "CPU": replayed("only.yaml", "cpu.csv", ...cores),
      "CPU, limits follow": replayed("limits.yaml", "cpu.csv", ...cores),
      "memory": replayed("only.yaml", "memory.csv", ...memory),
      "memory, limits follow": replayed("limits.yaml", "memory.csv", ...memory),
      "memory, no kill": replayed("limits.yaml", "flat.csv", ...memory),
      "no policy file": replayed("gone", "cpu.csv"),
      "no history file": replayed("only.yaml", "gone"),
      "two policies": replayed("two.yaml", "cpu.csv"),
      "no usage": replayed("only.yaml", "rps.txt"),
      "too short": replayed("only.yaml", "short.csv", ...cores),
      "series of no export": replayed("only.yaml", "cpu.csv", "--series", "a=b"),
      "no history": replayed("only.yaml"),
      "other flag": replayed("only.yaml", "cpu.csv", "--html"),
      "two outputs": replayed("only.yaml", "cpu.csv", "--json", "-o", "yaml"),
    },
    `\
CPU
  cpu.csv: 2 d of CPU, a value per 3600 s; judged after the first 12.3 h.
  Policy web: P90 × 1.2 over 24 h, every 5 min, from 50m to 4000m; changes of 10 % and more, 30 min apart; requests only.
  The request would have covered 97.22 % of the time, with 0.175 as much idle as used, by 0 changes. The longest stretch above it lasted 60 min.
  A limit of that size would have throttled in 60 min; the policy leaves limits alone.
  The policy's mode is Recommend: this is what Auto would have done.
  Bursts inside of a sample of 3600 s are not in the file; throttling begins within 100 ms.
  Demand that a limit throttled during the recording is missing in the file.
CPU, limits follow
  cpu.csv: 2 d of CPU, a value per 3600 s; judged after the first 12.3 h.
  Policy web: P90 × 1.2 over 24 h, every 5 min, from 50m to 4000m; changes of 10 % and more, 30 min apart; limits are 1 × the request.
  The request would have covered 97.22 % of the time, with 0.175 as much idle as used, by 0 changes. The longest stretch above it lasted 60 min.
  The limit would have throttled in 60 min.
  Bursts inside of a sample of 3600 s are not in the file; throttling begins within 100 ms.
  Demand that a limit throttled during the recording is missing in the file.
memory
  memory.csv: 2 d of memory, a value per 3600 s; judged after the first 12.3 h.
  Policy web: P90 × 1.2 over 24 h, every 5 min, from 64Mi to 4Gi; changes of 10 % and more, 30 min apart; requests only.
  The request would have covered 97.22 % of the time, with 0.175 as much idle as used, by 0 changes. The longest stretch above it lasted 60 min.
  The policy leaves limits alone, so none of its own could have killed.
  The policy's mode is Recommend: this is what Auto would have done.
  A container that was killed goes on here as it was recorded.
  Demand that a limit throttled during the recording is missing in the file.
memory, limits follow
  memory.csv: 2 d of memory, a value per 3600 s; judged after the first 12.3 h.
  Policy web: P90 × 1.2 over 24 h, every 5 min, from 64Mi to 4Gi; changes of 10 % and more, 30 min apart; limits are 1.1 × the request.
  The request would have covered 97.22 % of the time, with 0.739 as much idle as used, by 1 change. The longest stretch above it lasted 60 min.
  The limit would have killed the container once.
  A container that was killed goes on here as it was recorded.
  Demand that a limit throttled during the recording is missing in the file.
memory, no kill
  flat.csv: 2 d of memory, a value per 3600 s; judged after the first 12.3 h.
  Policy web: P90 × 1.2 over 24 h, every 5 min, from 64Mi to 4Gi; changes of 10 % and more, 30 min apart; limits are 1.1 × the request.
  The request would have covered 100.00 % of the time, with 0.200 as much idle as used, by 0 changes. Usage never passed the request.
  The limit would never have killed the container.
  A container that was killed goes on here as it was recorded.
  Demand that a limit throttled during the recording is missing in the file.
no policy file
| Cannot read policy "gone": there is no such file; check the path
no history file
| Cannot read history "gone": there is no such file; check the path
two policies
| Cannot replay policy "two.yaml": it has 2 objects of kind OptimizationPolicy, expected one
no usage
| Cannot read history "rps.txt": it is taken for rps, expected usage over time: CSV of timestamp,value or a Prometheus export
too short
| Cannot replay history "short.csv": no recommendation came of its 4 samples, expected more than 1 in 24 h
series of no export
| Cannot read history "cpu.csv": it is taken for cores, and --series chooses in a Prometheus export
no history
| Cannot simulate: --policy needs a --history to replay; see kubectl coalloc simulate --help
other flag
| Cannot simulate: --html does not go with --policy; see kubectl coalloc simulate --help
two outputs
| Cannot simulate: of --json and --output only one can be had; see kubectl coalloc simulate --help
`,
  );
});
