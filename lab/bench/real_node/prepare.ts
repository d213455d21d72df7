/**
 * What the comparison needs and can't get inside the cluster's network: the VPA's programs.
 *
 * @module
 */
import { wholePath } from "../../../tests/cluster/harness/shell.ts";
import { obtainVPA } from "./vertical_autoscaler.ts";

await obtainVPA({
  folders: { cacheHome: Deno.env.get("XDG_CACHE_HOME"), home: Deno.env.get("HOME") },
  path: wholePath(Deno.env.get("PATH")),
  progress: { say: (text) => console.error(text), now: () => performance.now() },
});
