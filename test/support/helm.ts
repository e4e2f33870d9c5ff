import { join, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'

export const CHART = resolve(import.meta.dir, '../../deploy/helm/gatehouse')
/** Without a cluster, a helm built from sources would assume the oldest version. */
const KUBERNETES = '1.31.0'

export interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly [part: string]: unknown
}

/**
 * GATEHOUSE_TEST_HELM names the program; default: `helm` of the `PATH`. Debian has no package, so
 * such tests are skipped without helm.
 */
export function findHelm(): string | undefined {
  return process.env.GATEHOUSE_TEST_HELM ?? Bun.which('helm') ?? undefined
}

export function runHelm(...parameters: string[]): {
  exitCode: number
  stdout: string
  stderr: string
} {
  const ran = Bun.spawnSync([findHelm() ?? 'helm', ...parameters])
  return { exitCode: ran.exitCode, stdout: String(ran.stdout), stderr: String(ran.stderr) }
}

/**
 * @param values override the chart's values
 * @throws Error with helm's message
 */
export async function renderChart(folder: string, values: object): Promise<Manifest[]> {
  const path = join(folder, 'values.yaml')
  await Bun.write(path, JSON.stringify(values))
  const { exitCode, stdout, stderr } = runHelm(
    ...[
      'template',
      'test',
      CHART,
      '--namespace',
      'llm',
      '--values',
      path,
      '--kube-version',
      KUBERNETES,
    ],
  )
  if (exitCode !== 0) throw new Error(stderr)
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Manifest | null)
    .filter((manifest) => manifest !== null)
}
