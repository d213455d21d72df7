import assert from "node:assert/strict";
import { VERSION } from "../../shared/version.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { changelogSection } from "./changelog.ts";
import {
  inlined,
  inlinedItems,
  keysUnder,
  merged,
  templateText,
  valueOf,
  yamlOf,
} from "./chart/marked_object.ts";
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

pure("templateText() puts under conditions what a version adds, and neighbours under one", () => {
  const env = (...names: string[]) => ({ env: names.map((name) => ({ name })), replicas: 2 });
  const versions = [
    { condition: "", value: env("a") },
    { condition: ".x", value: env("a", "b", "c") },
    { condition: ".y", value: { ...env("a", "b", "c", "d"), note: "on {{ it }}" } },
  ];
  assert.equal(
    templateText(merged(versions)),
    `env:
  - name: a
{{- if .x }}
  - name: b
  - name: c
{{- end }}
{{- if .y }}
  - name: d
{{- end }}
replicas: 2
{{- if .y }}
note: on {{ "{{" }} it }}
{{- end }}
`,
  );
});

pure("templateText() writes values, and quotes what YAML 1.1 takes for a switch", () => {
  const object = {
    image: valueOf(".Values.image"),
    ...keysUnder(".Values.pull", { pull: valueOf(".Values.pull") }),
    spec: { resources: yamlOf(".Values.resources"), value: "on", ...inlined(".Values.more") },
    list: [inlinedItems(".Values.items"), "at own"],
    name: "own",
  };
  assert.equal(
    templateText(object, { own: ".Name" }),
    `image: {{ .Values.image }}
{{- if .Values.pull }}
pull: {{ .Values.pull }}
{{- end }}
spec:
  resources:
  {{- toYaml .Values.resources | nindent 4 }}
  value: "on"
{{- with .Values.more }}
{{- toYaml . | nindent 2 }}
{{- end }}
list:
{{- with .Values.items }}
{{- toYaml . | nindent 2 }}
{{- end }}
  - at {{ .Name }}
name: {{ .Name | quote }}
`,
  );
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
