/**
 * Programs that are built from their Go modules and kept in the cache: Helm and actionlint.
 *
 * @module
 */
import {
  type BuildableBinary,
  builtProgram,
} from "../../tests/cluster/harness/install/build_binary.ts";
import { wholePath } from "../../tests/cluster/harness/shell.ts";

const PROGRAMS = {
  helm: {
    name: "helm",
    module: "helm.sh/helm/v4",
    package: "helm.sh/helm/v4/cmd/helm",
    version: "v4.3.1",
    buildSeconds: 170,
  },
  actionlint: {
    name: "actionlint",
    module: "github.com/rhysd/actionlint",
    package: "github.com/rhysd/actionlint/cmd/actionlint",
    version: "v1.7.12",
    buildSeconds: 6,
  },
} as const satisfies Readonly<Record<string, BuildableBinary>>;

/** The program's path; builds it first where the cache lacks it. Throws an `Error` where that fails. */
export function goProgram(name: keyof typeof PROGRAMS): Promise<string> {
  return builtProgram(PROGRAMS[name], {
    folders: { cacheHome: Deno.env.get("XDG_CACHE_HOME"), home: Deno.env.get("HOME") },
    path: wholePath(Deno.env.get("PATH")),
    progress: { say: (text) => console.error(text), now: () => performance.now() },
  });
}

if (import.meta.main) {
  for (const name of ["actionlint", "helm"] as const) console.log(await goProgram(name));
}
