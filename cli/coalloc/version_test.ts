import assert from "node:assert/strict";
import project from "../../deno.json" with { type: "json" };
import { VERSION } from "./version.ts";

Deno.test({
  name: "VERSION is that of deno.json",
  permissions: "none",
  fn() {
    assert.equal(VERSION, project.version);
  },
});
