/**
 * Obtains what the benchmark of real programs needs and can't get inside the cluster's network.
 *
 * @module
 */
import { wholePath } from "../../../tests/cluster/harness/shell.ts";
import { obtainPrograms } from "./programs.ts";

await obtainPrograms({
  folders: { cacheHome: Deno.env.get("XDG_CACHE_HOME"), home: Deno.env.get("HOME") },
  path: wholePath(Deno.env.get("PATH")),
  progress: { say: (text) => console.error(text), now: () => performance.now() },
});
