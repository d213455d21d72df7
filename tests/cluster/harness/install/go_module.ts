/**
 * Go modules that build other modules' programs.
 *
 * @module
 */
import type { Binary } from "./binary.ts";

/** The files of a module, by name. */
export interface GoModule {
  readonly files: Readonly<Record<string, string>>;
  /** For `go build -ldflags`. */
  readonly linkerFlags: string;
}

/** Only what a cluster's names need. */
const COREDNS_MAIN = `package main

import (
	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/cache"
	_ "github.com/coredns/coredns/plugin/errors"
	_ "github.com/coredns/coredns/plugin/kubernetes"
	_ "github.com/coredns/coredns/plugin/ready"
	_ "github.com/coredns/coredns/plugin/template"
)

func main() { coremain.Run() }
`;

/** What is built: a binary of the cluster, or another program that is published as a Go module. */
export interface BuildableBinary
  extends Pick<Binary, "package" | "module" | "version" | "buildSeconds"> {
  readonly name: string;
}

/** The module that requires what a binary is built from. `goMod`: the required module's own. */
export function goModule(binary: BuildableBinary, goMod: string): GoModule {
  const replaced = stagingModules(goMod);
  const lines = [
    `module coallocator.invalid/${binary.module.split("/").at(-1)}`,
    "",
    `go ${/^go (\S+)/m.exec(goMod)?.[1] ?? "1.26"}`,
    "",
    ...(binary.package === "." ? [] : [`tool ${binary.package}`, ""]),
    `require ${binary.module} ${binary.version}`,
    ...replaced.map((path) => `replace ${path} => ${path} ${stagingVersion(binary.version)}`),
    "",
  ];
  const main = binary.package === "." ? { "main.go": COREDNS_MAIN } : {};
  return { files: { "go.mod": lines.join("\n"), ...main }, linkerFlags: linkerFlags(binary) };
}

/**
 * Modules that Kubernetes keeps in its own repository and requires as v0.0.0, each published under
 * v0.MINOR.PATCH. Only those required as exactly that: a longer version is a real one.
 */
export function stagingModules(goMod: string): readonly string[] {
  const found = [...goMod.matchAll(/^\s*(?:require )?(k8s\.io\/\S+) v0\.0\.0(?: \/\/.*)?$/gm)];
  return [...new Set(found.map((match) => match[1] ?? ""))].sort();
}

/** `v0.36.3` for `v1.36.3`. */
function stagingVersion(version: string): string {
  return version.replace(/^v1\./, "v0.");
}

/** Without the version in it, a server says that it is v0.0.0, and clients believe it. */
function linkerFlags({ module, version }: BuildableBinary): string {
  if (module !== "k8s.io/kubernetes") return "-s -w";
  const [major, minor] = version.slice(1).split(".");
  const values = { gitVersion: version, gitMajor: major, gitMinor: minor };
  return [
    "-s -w",
    ...["k8s.io/component-base/version", "k8s.io/client-go/pkg/version"].flatMap((path) =>
      Object.entries(values).map(([name, value]) => `-X ${path}.${name}=${value}`)
    ),
  ].join(" ");
}
