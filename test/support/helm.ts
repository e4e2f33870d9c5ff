/** Runs `helm` on our chart, where it is. Needs no cluster. */
import { join, resolve } from 'node:path'
import { parseAllDocuments } from 'yaml'

export const CHART = resolve(import.meta.dir, '../../deploy/helm/gatehouse')
/** Without one, a helm that was built from its sources takes the oldest there is. */
const KUBERNETES = '1.31.0'

export interface Manifest {
  readonly kind: string
  readonly metadata: { readonly name: string; readonly labels: Readonly<Record<string, string>> }
  readonly [part: string]: unknown
}

/**
 * GATEHOUSE_TEST_HELM names it, else it is `helm` of the `PATH`. Debian has no package: without it
 * such tests are skipped everywhere.
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

/** @param values laid over those of the chart @throws with helm's words when it refuses */
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
