import assert from "node:assert/strict";
import fc from "fast-check";
import { serveCanned, statusAnswer } from "../../tests/fixtures/canned_server.ts";
import { readResizeSupport, type ResizeSupport } from "./resize_support.ts";

/** What a server of this version tells, whose core group has these resources. */
async function supportOf(gitVersion: unknown, ...names: string[]): Promise<ResizeSupport> {
  await using server = serveCanned(({ path }) =>
    path === "/version" ? { gitVersion } : { resources: names.map((name) => ({ name })) }
  );
  return await readResizeSupport(server.connection);
}

Deno.test("readResizeSupport() goes by what is served, whatever the version is", async () => {
  for (const version of ["v1.32.0", "v1.36.3"]) {
    assert.equal((await supportOf(version, "pods", "pods/resize")).resizeServed, true);
    assert.deepEqual(await supportOf(version, "pods", "pods/exec"), {
      resizeServed: false,
      lowersMemoryLimits: false,
    });
  }
});

Deno.test("readResizeSupport() lets memory limits be lowered from 1.34 on", async () => {
  const lowers = async (version: unknown): Promise<boolean> =>
    (await supportOf(version, "pods/resize")).lowersMemoryLimits;
  for (const version of ["v1.34.0", "v1.35.2-gke.100", "v1.100.0", "v2.0.0"]) {
    assert.equal(await lowers(version), true, version);
  }
  for (const version of ["v1.33.9+k3s1", "v1.9.0", "", "latest", undefined]) {
    assert.equal(await lowers(version), false);
  }
});

Deno.test("readResizeSupport() takes a server that does not answer for an error", async () => {
  await using server = serveCanned(() => statusAnswer(503));
  await assert.rejects(readResizeSupport(server.connection), { status: 503 });
});

Deno.test("property 20: readResizeSupport() finds in-place support exactly where it is served", async () => {
  let names: readonly string[] = [];
  await using server = serveCanned(({ path }) =>
    path === "/version" ? { gitVersion: "v1.36.0" } : { resources: names.map((name) => ({ name })) }
  );
  const others = fc.array(fc.stringMatching(/^(pods|nodes|resize)(\/[a-z]{1,6})?$/), {
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(others, fc.boolean(), async (found, isOn) => {
      const rest = found.filter((name) => name !== "pods/resize");
      names = isOn ? [...rest, "pods/resize"] : rest;
      const { resizeServed } = await readResizeSupport(server.connection);
      assert.equal(resizeServed, isOn);
    }),
  );
});
