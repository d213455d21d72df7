/**
 * A program's table of settings as Markdown.
 *
 * @module
 */
import { sectionOf, type SettingTable } from "../shared/config/setting.ts";

/** A program and what it can be told. */
export interface DescribedProgram {
  readonly title: string;
  readonly table: SettingTable;
}

/** The page of all programs' settings, from its heading to its last line. */
export function settingsPage(programs: readonly DescribedProgram[]): string {
  return `${INTRODUCTION}\n${programs.map(programSection).join("\n")}`;
}

const INTRODUCTION = `# Configuration

<!-- Made from the tables of settings by \`deno task generate:docs\`; changes here are lost. -->

A flag stands over a variable, a variable over the file, the file over the default. The file is YAML
with one section per part of the product; both programs read the same one, in a cluster the key
\`config.yaml\` of the ConfigMap \`mbcas-config\`. Each program checks the sections that it uses: an
unknown key, variable or flag, and a value that does not fit, end it with exit code 2 and one line per
fault. At its start it logs what holds and where each value came from. There are no secrets among them.

\`\`\`yaml
market:
  burstFactor: 3
  excludedNamespaces: [kube-system, kube-public, kube-node-lease, mbcas-system, batch]
log:
  level: debug
\`\`\`

\`market: off\` in place of the whole section is short for \`market: {enabled: off}\`. The controller
follows the ConfigMap while it runs: settings marked *live* hold within seconds, the others from the
next start on; a text with faults is refused as a whole and logged. The agents read theirs at their
start.

Permissions that are part of the images fix some settings: the agent's \`listen\`, \`cgroupRoot\` and
\`--kubeconfig\`, and for both programs the folder of \`--config\`, \`/etc/mbcas\`. Another
\`controller.listen\` needs its port in the Deployment and the NetworkPolicy, too.
`;

function programSection({ title, table }: DescribedProgram): string {
  const rows = Object.values(table).map((setting) => {
    const { key, flag, env, default: text, description, kind, live } = setting;
    const cells = [
      sectionOf(key) === undefined ? "–" : code(key),
      code(flag),
      code(env),
      code(text),
      `${description}${live ? " (*live*)" : ""}`,
      kind.expects,
    ];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  const head = ["In the file", "Flag", "Variable", "Default", "What it does", "Values"];
  return [
    `## ${title}\n`,
    `| ${head.join(" | ")} |`,
    `| ${head.map(() => "---").join(" | ")} |`,
    ...rows,
    "",
  ].join("\n");
}

function code(text: string | undefined): string {
  return text === undefined || text === "" ? "–" : `\`${text}\``;
}
