/**
 * Alerts and the Grafana dashboard: they parse, fire when they should, and name nothing that the
 * gateway does not tell.
 */
import { expect, setDefaultTimeout, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parse } from 'yaml'
import { labelsShownIn, unknownIn } from '../support/promql.ts'
import { describeIf } from '../support/skip-unless.ts'
import { createTemporaryFolder } from '../support/temporary-folder.ts'

// Programs that take a second on a machine with nothing else to do.
setDefaultTimeout(180_000)

const REPOSITORY = resolve(import.meta.dir, '../..')
const FOLDER = join(REPOSITORY, 'deploy/prometheus')

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly labels: { readonly severity: string }
  readonly annotations: { readonly summary: string; readonly runbook: string }
}

interface Panel {
  readonly type: string
  readonly title: string
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[]
}

function read(path: string): string {
  return readFileSync(join(REPOSITORY, path), 'utf8')
}

const alerts = parse(read('deploy/prometheus/alerts.yaml')) as { groups: { rules: Rule[] }[] }
const rules = alerts.groups.flatMap((group) => group.rules)
const dashboard = JSON.parse(read('deploy/grafana/gatehouse.json')) as {
  panels: Panel[]
  templating: { list: { name: string; query?: { query?: string } | string }[] }
}
const targets = dashboard.panels.flatMap(({ title, targets: own = [] }) =>
  own.map((target) => ({ title, ...target })),
)

/**
 * GATEHOUSE_TEST_PROMTOOL names it, else it is `promtool` of the `PATH` (Debian's package
 * prometheus).
 * @returns undefined when it is nowhere
 * @throws where `CI` is set and it is nowhere
 */
function findPromtool(): string | undefined {
  const found = process.env.GATEHOUSE_TEST_PROMTOOL ?? Bun.which('promtool') ?? undefined
  if (found === undefined && process.env.CI)
    throw new Error(
      "promtool is not here: install Debian's package prometheus, or set GATEHOUSE_TEST_PROMTOOL.",
    )
  return found
}

function promtool(...parameters: string[]): { exitCode: number; text: string } {
  const ran = Bun.spawnSync([findPromtool() ?? 'promtool', ...parameters], { cwd: FOLDER })
  return { exitCode: ran.exitCode, text: `${ran.stdout}${ran.stderr}` }
}

test('an alert names existing metrics and labels', () => {
  expect(rules.length).toBeGreaterThan(15)
  for (const { alert, expr } of rules)
    expect({ alert, unknown: unknownIn(expr) }).toEqual({ alert, unknown: [] })
})

test('an alert has a severity, and its heading in the document has the remedy', () => {
  const headings = new Map(
    [...read('docs/operations/alerts.md').matchAll(/^### (\w+)\n+([^\n]+)/gm)].map(
      ([, name = '', text = '']) => [name, text],
    ),
  )
  for (const { alert, labels, annotations } of rules) {
    expect(['critical', 'warning']).toContain(labels.severity)
    expect(annotations.summary.length).toBeGreaterThan(10)
    expect(annotations.runbook).toBe(`docs/operations/alerts.md#${alert.toLowerCase()}`)
    expect({ alert, told: (headings.get(alert) ?? '').length > 40 }).toEqual({ alert, told: true })
  }
  expect([...headings.keys()].filter((name) => name.startsWith('Gatehouse')).sort()).toEqual(
    rules.map(({ alert }) => alert).sort(),
  )
})

test('every alert has a test', () => {
  const tests = parse(read('deploy/prometheus/alerts.test.yaml')) as { tests: { name: string }[] }
  expect(tests.tests.map(({ name }) => name).sort()).toEqual(rules.map(({ alert }) => alert).sort())
})

test('a panel of the dashboard names existing metrics, labels and variables', () => {
  const variables = dashboard.templating.list.map(({ name }) => name)
  expect(targets.length).toBeGreaterThan(30)
  for (const { title, expr, legendFormat } of targets) {
    expect({ title, unknown: unknownIn(expr) }).toEqual({ title, unknown: [] })
    for (const [, name = ''] of expr.matchAll(/\$(\w+)/g))
      expect([...variables, '__rate_interval']).toContain(name)
    for (const label of labelsShownIn(legendFormat))
      expect(expr.includes(label) || label === 'instance').toBeTrue()
  }
  for (const { query } of dashboard.templating.list) {
    const [, metric = '', label = ''] =
      /^label_values\((\w+), (\w+)\)$/.exec(typeof query === 'object' ? (query.query ?? '') : '') ??
      []
    if (metric !== '') expect(unknownIn(`sum by (${label}) (${metric})`)).toEqual([])
  }
})

test('the search for unknown names finds them', () => {
  expect(unknownIn('sum by (nonsense) (rate(gatehouse_calls_total{gate="x"}[5m]))')).toEqual([
    'gatehouse_calls_total{gate}',
    'by (nonsense)',
  ])
  expect(unknownIn('gatehouse_first_byte_seconds > 1')).toEqual(['gatehouse_first_byte_seconds'])
  expect(unknownIn('gatehouse_absent == 0')).toEqual(['gatehouse_absent'])
})

describeIf(findPromtool() !== undefined, 'needs promtool')('promtool', () => {
  test('takes the rules and the configuration', async () => {
    expect(promtool('check', 'rules', 'alerts.yaml')).toMatchObject({ exitCode: 0 })
    const folder = await createTemporaryFolder()
    try {
      // Its token lies beside it.
      await Bun.write(join(folder.path, 'gatehouse-metrics-token'), 'token')
      for (const name of ['alerts.yaml', 'scrape.yaml'])
        await Bun.write(join(folder.path, name), read(`deploy/prometheus/${name}`))
      expect(promtool('check', 'config', join(folder.path, 'scrape.yaml'))).toMatchObject({
        exitCode: 0,
      })
    } finally {
      await folder.remove()
    }
  })

  test('sees every alert fire when it should, and not before', () => {
    const { exitCode, text } = promtool('test', 'rules', 'alerts.test.yaml')
    expect({ exitCode, text: exitCode === 0 ? '' : text }).toEqual({ exitCode: 0, text: '' })
  })

  test('reads every expression of the dashboard', async () => {
    const folder = await createTemporaryFolder()
    try {
      const path = join(folder.path, 'panels.yaml')
      const asRules = targets.map(({ expr }, index) => ({
        record: `panel:${index}`,
        expr: expr.replaceAll('$__rate_interval', '5m').replaceAll(/\$\w+/g, '.*'),
      }))
      await Bun.write(path, JSON.stringify({ groups: [{ name: 'panels', rules: asRules }] }))
      expect(promtool('check', 'rules', path)).toMatchObject({ exitCode: 0 })
    } finally {
      await folder.remove()
    }
  })
})
