import assert from "node:assert/strict";
import { PROGRAM_ENVIRONMENT, V8_FLAGS } from "../../../tools/build/programs.ts";

const CONFIG = new URL("../../../deno.json", import.meta.url);

Deno.test({
  name: "bench:rightsizing runs with the memory settings that the controller is shipped with",
  permissions: { read: [CONFIG] },
  async fn() {
    const { tasks } = JSON.parse(await Deno.readTextFile(CONFIG));
    const { command }: { readonly command: string } = tasks["bench:rightsizing"];
    assert.ok(command.includes(`${V8_FLAGS},--expose-gc `), command);
    const environment = Object.entries(PROGRAM_ENVIRONMENT).map(([name, value]) =>
      `${name}=${value}`
    );
    assert.ok(command.startsWith(`${environment.join(" ")} deno run `), command);
  },
});
