import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { writeWhole } from "./write_whole.ts";

pure("writeWhole() goes on where a write has taken only a part", () => {
  const taken: number[] = [];
  const sink = {
    writeSync(bytes: Uint8Array): number {
      const part = bytes.subarray(0, 3);
      taken.push(...part);
      return part.length;
    },
  };
  writeWhole("200m → 450m\n", sink);
  assert.equal(new TextDecoder().decode(new Uint8Array(taken)), "200m → 450m\n");
  taken.length = 0;
  writeWhole("", sink);
  assert.deepEqual(taken, []);
});
