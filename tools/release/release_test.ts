import fc from "fast-check";
import assert from "node:assert/strict";
import { parse } from "yaml";
import { z } from "zod";
import { auditedChangeSchema } from "../../shared/audit_log.ts";
import { VERSION } from "../../shared/version.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  type JSONValue,
  optimizationPolicyCRD,
  podAllocationCRD,
  recommendationReportCRD,
  structuralSchema,
} from "../crd/definitions.ts";
import { changelogSection } from "./changelog.ts";
import { merged } from "./chart/marked_object.ts";
import { krewManifest } from "./command_archives.ts";
import { publishSteps, pushImage } from "./publish.ts";
import { PLATFORMS, releasePlace } from "./release_names.ts";

const place = releasePlace("Owner/name");

pure("pushImage() builds for both architectures with bill and provenance", () => {
  const step = pushImage(place, "mbcas-agent");
  for (
    const part of [
      "linux/amd64,linux/arm64",
      "agent",
      `ghcr.io/owner/name/mbcas-agent:${VERSION}`,
      "org.opencontainers.image.source=https://github.com/Owner/name",
      "--sbom=true",
      "--provenance=mode=max",
      "--push",
    ]
  ) assert.ok(step.includes(part), part);
});

pure("publishSteps() signs each image by its digest before the release, which has no image", () => {
  const input = {
    place,
    version: "1.0.0",
    digests: new Map([["mbcas-agent", "sha256:1"], ["mbcas-controller", "sha256:2"]]),
    files: ["CHANGELOG.md", "SHA256SUMS", "install.yaml", "mbcas-agent.tar"],
  };
  const steps = publishSteps(input);
  assert.deepEqual(steps.map(([program, command]) => `${program} ${command}`), [
    "cosign sign",
    "cosign sign",
    "helm push",
    "cosign sign-blob",
    "gh release",
  ]);
  assert.equal(steps[1]?.at(-1), "ghcr.io/owner/name/mbcas-controller@sha256:2");
  const assets = steps.at(-1)?.slice(-3);
  assert.deepEqual(assets, [
    "build/release/SHA256SUMS",
    "build/release/install.yaml",
    "build/release/SHA256SUMS.sigstore.json",
  ]);
  const isPrerelease = (version: string): boolean =>
    publishSteps({ ...input, version }).at(-1)?.includes("--prerelease") === true;
  assert.deepEqual(["1.0.0", "1.0.0-rc.1"].map(isPrerelease), [false, true]);
});

pure("krewManifest() has an archive for each platform, by address and sum", () => {
  const archives = PLATFORMS.map((platform) => ({ platform, sha256: platform.target }));
  const text = krewManifest({ home: place.home, version: "1.2.3", archives });
  assert.match(text, /^ {2}version: v1\.2\.3$/m);
  const archive = "https://github.com/Owner/name/releases/download/v1.2.3/kubectl-coalloc";
  for (const { os, arch, target } of PLATFORMS) {
    const platform = new RegExp(
      `os: ${os}\\n +arch: ${arch}\\n +uri: ${archive}-${os}-${arch}\\.tar\\.gz\\n +sha256: ${target}\\n`,
    );
    assert.match(text, platform);
  }
});

pure("merged() refuses a component that changes a value", () => {
  for (const [before, after] of [[{ a: 1 }, { a: 2 }], [{ a: [1] }, { a: [2, 1] }]]) {
    const versions = [{ condition: "", value: before }, { condition: ".x", value: after }];
    assert.throws(() => merged(versions), /changes \/a/);
  }
});

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

/** The value at a path of keys and indices; undefined where there is none. */
function at(value: JSONValue | undefined, path: string): JSONValue | undefined {
  let found: unknown = value;
  for (const key of path.split("/")) {
    if (typeof found !== "object" || found === null) return undefined;
    found = Reflect.get(found, key);
  }
  return found as JSONValue | undefined;
}

/** Every schema of a field, with its path; items and values of maps as well. */
function fields(schema: JSONValue | undefined, path = ""): [string, JSONValue][] {
  const below = at(schema, "properties") ?? at(schema, "items/properties") ?? {};
  return Object.entries(below as object).flatMap(([name, field]) => [
    [`${path}.${name}`, field],
    ...fields(field, `${path}.${name}`),
  ]);
}

const schemaOf = (crd: JSONValue) => at(crd, "spec/versions/0/schema/openAPIV3Schema");
const CRDS = { allocation: podAllocationCRD(), policy: optimizationPolicyCRD() };
const REPORT = recommendationReportCRD();
const allocation = schemaOf(CRDS.allocation);
const spec = at(schemaOf(CRDS.policy), "properties/spec");

const MANIFESTS: Readonly<Record<string, JSONValue>> = {
  "market/podallocations": CRDS.allocation,
  "rightsizing/optimizationpolicies": CRDS.policy,
  "rightsizing/recommendationreports": REPORT,
};

Deno.test("definitions are those of the manifests", async () => {
  for (const [name, definition] of Object.entries(MANIFESTS)) {
    assert.deepEqual(parse(await Deno.readTextFile(`manifests/crds/${name}.yaml`)), definition);
  }
});

pure("definitions describe each field, and times by their format", () => {
  for (const [crd, least] of [[CRDS.allocation, 30], [CRDS.policy, 60], [REPORT, 20]] as const) {
    const described = fields(schemaOf(crd)).filter(([path]) => path !== ".metadata");
    assert.ok(described.length > least, `${described.length} fields`);
    for (const [path, one] of described) {
      assert.equal(typeof at(one, "description"), "string", `${path} has no description`);
      const isTime = /\.(\w+Time|clearedAt|at|last(Recommendation|Applied|Reconciliation))$/;
      assert.equal(at(one, "format") === "date-time", isTime.test(path), path);
    }
  }
});

pure("definitions take any reason in CamelCase, and conditions by the API's conventions", () => {
  for (const crd of [CRDS.allocation, CRDS.policy, REPORT]) {
    for (const [path, one] of fields(schemaOf(crd))) {
      if (/\.(reason|conditions\.type)$/.test(path) && path !== ".status.bounds.reason") {
        assert.equal(at(one, "pattern"), "^[A-Z][A-Za-z0-9]*$", path);
        assert.equal(at(one, "enum"), undefined, path);
      }
    }
  }
  for (const crd of [CRDS.allocation, CRDS.policy]) {
    const path = "properties/status/properties/conditions/items/properties/status/enum";
    assert.deepEqual(at(schemaOf(crd), path), ["True", "False", "Unknown"]);
  }
});

pure("podAllocationCRD() bounds each list, so that rules over it have a bounded cost", () => {
  const lists = fields(allocation).filter(([, field]) => at(field, "type") === "array");
  assert.ok(lists.length >= 5, `${lists.length} lists`);
  for (const [path, list] of lists) {
    // Conditions are one of each type; rules are published as a whole; other lists are of containers.
    const [most, keys] = path.endsWith(".conditions")
      ? [8, ["type"]]
      : [128, path.endsWith(".rules") ? undefined : ["name"]];
    assert.equal(at(list, "maxItems"), most, path);
    assert.deepEqual(at(list, "x-kubernetes-list-map-keys"), keys, path);
  }
});

pure("optimizationPolicyCRD() bounds lists, maps, texts, and explains each rule", () => {
  const bounded = fields(spec).filter(([, one]) =>
    ["array", "string"].includes(String(at(one, "type"))) || at(one, "additionalProperties")
  );
  assert.ok(bounded.length > 15);
  for (const [path, one] of bounded) {
    const bound = at(one, "maxItems") ?? at(one, "maxLength") ?? at(one, "maxProperties") ??
      at(one, "enum");
    assert.ok(bound !== undefined, path);
  }
  for (const [path, one] of [["", spec] as const, ...fields(spec)]) {
    const rules = (at(one, "x-kubernetes-validations") ?? []) as { message: string }[];
    for (const { message } of rules) assert.match(message, /^must /, path);
  }
});

pure("the price has one unit: per core, in the definition and in the audit log", () => {
  const texts = [JSON.stringify(CRDS.allocation), auditedChangeSchema.shape.price.description];
  assert.deepEqual(texts.map((text) => /price per (\w+)/gi.exec(text ?? "")?.[1]), [
    "core",
    "core",
  ]);
  assert.ok(!texts.some((text) => /per millicore/i.test(text ?? "")));
});

/** All keys in a value that stand for keywords, not for the names of fields. */
function keywords(value: JSONValue): string[] {
  if (Array.isArray(value)) return value.flatMap(keywords);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    key === "properties" ? Object.values(child as object).flatMap(keywords) : [
      key,
      ...keywords(child),
    ]
  );
}

pure("structuralSchema() drops keywords that a server refuses, never fields of such a name", () => {
  const name = fc.constantFrom("additionalProperties", "$schema", "properties", "size");
  fc.assert(fc.property(name, name, (outer, inner) => {
    const schema = structuralSchema(z.object({ [outer]: z.object({ [inner]: z.string() }) }));
    assert.deepEqual(
      keywords(schema).filter((key) => key === "additionalProperties" || key === "$schema"),
      [],
    );
    assert.deepEqual(schema, {
      type: "object",
      required: [outer],
      properties: {
        [outer]: { type: "object", required: [inner], properties: { [inner]: { type: "string" } } },
      },
    });
  }));
});

pure("structuralSchema() refuses a type that OpenAPI can't express", () => {
  assert.throws(() => structuralSchema(z.object({ at: z.date() })), /Date /);
});
