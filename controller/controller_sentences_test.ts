import { ApiError } from "../shared/api/api_error.ts";
import { effectiveSettings } from "../shared/config/load.ts";
import { type Log, silentLog } from "../shared/log.ts";
import { seededRandom } from "../shared/random.ts";
import { createVirtualClock } from "../lab/simulation/virtual_clock.ts";
import { assertSentences } from "../tests/fixtures/assert_sentences.ts";
import { createLiveSettings } from "./live_settings.ts";
import { CONTROLLER_SETTINGS } from "./settings.ts";
import { startCheck } from "./start_check.ts";
import type { ApiFindings } from "../adapters/kube/client/api_checks.ts";

/** The YAML parser looks at two variables for its own debugging. */
const PURE = { env: ["LOG_TOKENS", "LOG_STREAM"] };

/** The reason why the check waits. */
async function checked(findings: Partial<ApiFindings> | ApiError): Promise<string> {
  const end = new AbortController();
  let waited = "";
  const fine = {
    ...{ serverVersion: "v1.36.3", servesPodResize: true, lowersMemoryLimits: true },
    ...{ servesAllocations: true, unknownFields: [] },
  };
  await startCheck({
    ask: () =>
      findings instanceof ApiError
        ? Promise.reject(findings)
        : Promise.resolve({ ...fine, ...findings }),
    clock: createVirtualClock({ wallStart: 0 }),
    random: seededRandom(1),
    log: silentLog,
    waitsFor(reason) {
      waited = reason ?? waited;
      end.abort();
    },
  }, end.signal);
  return waited;
}

/** Level and message of each line that is logged of a settings file. */
function logged(text: string, flags: ReadonlyMap<string, string> = new Map()): string {
  const settings = effectiveSettings(CONTROLLER_SETTINGS, { flags });
  if ("faults" in settings) return "";
  const lines: string[] = [];
  const put = (level: string) => (message: string) => void lines.push(`${level} ${message}`);
  const log: Log = { ...silentLog, info: put("info"), warn: put("warn"), error: put("error") };
  createLiveSettings({ settings, sources: { flags } }, log).takeFile({ path: "f", text });
  return lines.join("; ");
}

Deno.test({
  name: "sentences of the controller's start and settings",
  permissions: PURE,
  fn: () =>
    assertSentences([
      [
        "settings",
        () => logged("controller: {dryRun: true, maxResizesPerSecond: 7}"),
        "info Setting changed; warn Setting changed, restart to follow it",
      ],
      ["refused settings", () => logged("a: 1"), "error Settings refused"],
      [
        "overridden settings",
        () => logged("market: off", new Map([["--market", "on"]])),
        "warn Setting of the file is overridden",
      ],
      [
        "market off in refused settings",
        () => logged("market: off\na: 1"),
        "error Settings refused; info Setting changed",
      ],
      [
        "no answer",
        () => checked(new ApiError(0, "Unreachable", "no route")),
        "the API server does not answer the start check: no route",
      ],
      [
        "no CustomResourceDefinition",
        () => checked({ servesAllocations: false }),
        "the CustomResourceDefinition podallocations.allocation.mbcas.io is missing: apply " +
        "manifests/crds",
      ],
      [
        "old CustomResourceDefinition",
        () => checked({ unknownFields: ["spec.a"] }),
        "the CustomResourceDefinition podallocations.allocation.mbcas.io is older than this " +
        "controller and lacks spec.a: apply manifests/crds of its version",
      ],
    ]),
});
