import assert from "node:assert/strict";
import { VERSION } from "./version_command.ts";

import project from "../../deno.json" with { type: "json" };

Deno.test({
  name: "VERSION is that of deno.json",
  permissions: "none",
  fn() {
    assert.equal(VERSION, project.version);
  },
});
