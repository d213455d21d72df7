import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { VERSION } from "../../shared/version.ts";
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
  const steps = publishSteps({
    place,
    digests: new Map([["mbcas-agent", "sha256:1"], ["mbcas-controller", "sha256:2"]]),
    files: ["CHANGELOG.md", "SHA256SUMS", "install.yaml", "mbcas-agent.tar"],
  });
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
