import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { VERSION } from "./version_command.ts";

import project from "../../deno.json" with { type: "json" };

pure("VERSION is that of deno.json", () => {
  assert.equal(VERSION, project.version);
});
