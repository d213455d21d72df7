import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { SHIPPED_TRACES } from "../trace_files.ts";
import { traceSources } from "./trace_sources.ts";

pure("traceSources() knows every trace of the project, and takes others for the user's own", () => {
  const shipped = traceSources(SHIPPED_TRACES);
  assert.equal(shipped.length, 3);
  assert(shipped.every(({ source }) => source.startsWith("https://")));
  assert.deepEqual(traceSources(["my.csv"]).map(({ source }) => source), ["your own file"]);
});
