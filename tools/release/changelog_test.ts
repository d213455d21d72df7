import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { changelogSection } from "./changelog.ts";

const date = "2026-11-26";
const small = { subject: "small", body: "" };
const large = { subject: "large", body: "Why.\n\nBREAKING CHANGE: rename" };

pure("changelogSection() lists breaking changes first, then each commit", () => {
  const commits = [large, small];
  assert.equal(
    changelogSection({ version: "0.2.0", date, previous: "0.1.3", commits }),
    "## 0.2.0 (2026-11-26)\n\n### Breaking changes\n\n- rename\n\n" +
      "### Changes\n\n- large\n- small\n",
  );
  assert.match(changelogSection({ version: "0.1.0", date, previous: undefined, commits }), /first/);
});

pure("changelogSection() refuses a version that semver does not allow", () => {
  const rows = [
    ["0.1.1", "0.1.0", small, true],
    ["0.1.0", "0.1.0", small, false],
    ["0.1.9", "0.1.10", small, false],
    ["0.1.1", "0.1.0", large, false],
    ["0.2.0", "0.1.5", large, true],
    ["1.3.0", "1.2.0", large, false],
    ["2.0.0", "1.2.0", large, true],
    ["1.0.0", "2.1.0", small, false],
    ["1.3", "1.2.0", small, false],
  ] as const;
  for (const [version, previous, commit, allowed] of rows) {
    const section = () => changelogSection({ version, date, previous, commits: [commit] });
    if (allowed) assert.ok(section().includes(commit.subject), version);
    else assert.throws(section, RangeError, `${previous} to ${version}`);
  }
});
