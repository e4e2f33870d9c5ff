/**
 * The Helm chart: its values, schema and templates belong together and to the settings; rendered
 * for real where helm is.
 */
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import Ajv from 'ajv'
import { parse } from 'yaml'
import { parseSetting } from '../../src/config/read-setting.ts'
import { SERVER_SUBJECTS, SETTINGS } from '../../src/config/setting-table.ts'
import type { Setting } from '../../src/config/setting-type.ts'
import { readSettings } from '../../src/config/settings.ts'
import { CHART, findHelm, type Manifest, renderChart, runHelm } from '../support/helm.ts'
import { describeIf } from '../support/skip-unless.ts'
import { createTemporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'

// Programs that take a second on a machine with nothing else to do.
setDefaultTimeout(180_000)

const REPOSITORY = resolve(import.meta.dir, '../..')

function read(path: string): string {
  return readFileSync(join(CHART, path), 'utf8')
}

const values = parse(read('values.yaml')) as Record<string, unknown>
const templates = readdirSync(join(CHART, 'templates')).map((name) => ({
  name,
  text: read(`templates/${name}`),
}))

/** The value at `image.tag`, or undefined. */
function valueAt(path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>(
      (value, part) => (value as Record<string, unknown> | null | undefined)?.[part],
      values,
    )
}

test('the chart has the version that it installs', async () => {
  const chart = parse(read('Chart.yaml')) as { appVersion: string; version: string }
  const { version } = (await Bun.file(join(REPOSITORY, 'package.json')).json()) as {
    version: string
  }
  expect(chart.appVersion).toBe(version)
  expect(chart.version).toMatch(/^\d+\.\d+\.\d+$/)
})

test('its values fit its schema, and a misspelt one does not', () => {
  const schema = JSON.parse(read('values.schema.json')) as { properties: Record<string, unknown> }
  const validate = new Ajv({ strict: false, allErrors: true }).compile(schema)
  expect({ isValid: validate(values), errors: validate.errors }).toEqual({
    isValid: true,
    errors: null,
  })
  for (const wrong of [
    { replicas: 3 },
    { store: 'mysql' },
    { settings: { DATABASE_URL: 'postgres://' } },
  ])
    expect(validate({ ...values, ...wrong })).toBeFalse()
  const described = Object.keys(schema.properties).filter((name) => name !== 'global')
  expect(described.sort()).toEqual(Object.keys(values).sort())
})

test('every value that a template uses exists, and every value is used', () => {
  const used = templates.flatMap(({ name, text }) =>
    [...text.matchAll(/\.Values\.([\w.]+)/g)].map(([, path = '']) => ({ name, path })),
  )
  for (const { name, path } of used)
    expect({ name, path, isThere: valueAt(path) !== undefined }).toEqual({
      name,
      path,
      isThere: true,
    })
  for (const name of Object.keys(values))
    expect({ name, isUsed: used.some(({ path }) => path.split('.')[0] === name) }).toEqual({
      name,
      isUsed: true,
    })
})

describe('its schema accepts each setting as the gateway does', () => {
  const schema = JSON.parse(read('values.schema.json')) as object
  const validate = new Ajv({ strict: false }).compile(schema)
  const takes = (name: string, value: unknown) =>
    validate({ ...values, settings: { [name]: value } })
  const entries: readonly (readonly [string, Setting])[] = SERVER_SUBJECTS.flatMap(({ settings }) =>
    Object.entries(settings),
  )

  test.each(entries)('%s', (name, { type, default: fallback }) => {
    if (type.type === 'secret') {
      expect(takes(name, 'planted')).toBeFalse()
      return
    }
    for (const value of [fallback ?? '', String(fallback ?? ''), ''])
      expect(takes(name, value)).toBeTrue()
    if (type.type === 'choice') {
      for (const choice of type.choices) expect(takes(name, choice)).toBeTrue()
      for (const wrong of ['planted', true, 1]) expect(takes(name, wrong)).toBeFalse()
    }
    if (!('min' in type)) return
    for (const value of [type.min, type.max, String(type.max)])
      expect(takes(name, value)).toBeTrue()
    for (const wrong of [type.min - 1, type.max + 2, 1.5, '1e3', 'planted', true])
      expect(takes(name, wrong)).toBeFalse()
  })

  test('a misspelt one, and the key of a command, are refused; those of other programs are not', () => {
    for (const name of ['GATEHOUSE_PROT', 'GATEHOUSE_API_KEY', 'gatehouse_port'])
      expect(takes(name, '1')).toBeFalse()
    for (const name of ['OPENAI_BASE_URL', 'ACME_BASE_URL', 'NODE_EXTRA_CA_CERTS'])
      expect(takes(name, 'https://x')).toBeTrue()
  })
})

test('values that stand for settings have their limits', () => {
  const { properties } = JSON.parse(read('values.schema.json')) as {
    properties: Record<string, { minimum: number; maximum: number }>
  }
  const seconds = {
    drainDelaySeconds: 'GATEHOUSE_DRAIN_DELAY_MS',
    shutdownTimeoutSeconds: 'GATEHOUSE_SHUTDOWN_TIMEOUT_MS',
  } as const
  for (const [value, name] of Object.entries(seconds)) {
    const { min, max } = SETTINGS[name].type
    expect({ value, ...properties[value] }).toMatchObject({
      value,
      minimum: Math.ceil(min / 1_000),
      maximum: max / 1_000,
    })
    const given = String(Number(values[value]) * 1_000)
    expect(parseSetting(name, SETTINGS[name], given)).toBe(Number(given))
  }
  const port = valueAt('metrics.port')
  expect(
    parseSetting('GATEHOUSE_METRICS_PORT', SETTINGS.GATEHOUSE_METRICS_PORT, String(port)),
  ).toBe(port)
  expect(readSettings(values.settings as Record<string, string>).unknownVariables).toEqual([])
})

test('every variable that it sets is one of the settings', () => {
  const set = templates.flatMap(({ text }) =>
    [...text.matchAll(/(?:name|key): ((?:GATEHOUSE|DATABASE|REDIS)_\w+)/g)].map(
      ([, name = '']) => name,
    ),
  )
  expect(set.length).toBeGreaterThan(10)
  for (const name of set) expect(Object.keys(SETTINGS)).toContain(name)
  for (const name of Object.keys(values.settings as object))
    expect(Object.keys(SETTINGS)).toContain(name)
})

test('a setting that the chart gives by itself is honoured from the values, or refused by name', () => {
  const text = templates.map((template) => template.text).join('\n')
  const given = [...text.matchAll(/- \{name: (GATEHOUSE_\w+), value:/g)].map(([, name]) => name)
  expect(given.length).toBeGreaterThan(5)
  for (const name of given) {
    const isHonoured = text.includes(`if not (hasKey .Values.settings "${name}")`)
    const isRefused = text.includes(`"${name}" (list `)
    expect({ name, isTold: isHonoured || isRefused }).toEqual({ name, isTold: true })
  }
})

describeIf(findHelm() !== undefined, 'needs helm (GATEHOUSE_TEST_HELM)')('helm', () => {
  let folder: TemporaryFolder
  beforeAll(async () => {
    folder = await createTemporaryFolder()
  })
  afterAll(() => folder.remove())

  const render = (given: object) => renderChart(folder.path, { existingSecret: 'keys', ...given })

  function find(manifests: readonly Manifest[], kind: string): Manifest | undefined {
    return manifests.find((manifest) => manifest.kind === kind)
  }

  test('finds no fault', () => {
    const { exitCode, stdout } = runHelm('lint', '--strict', '--set', 'existingSecret=keys', CHART)
    expect({ exitCode, stdout }).toMatchObject({ exitCode: 0 })
  })

  test('creates nodes that run as any user, write one folder and have time to end', async () => {
    const manifests = await render({ drainDelaySeconds: 7, shutdownTimeoutSeconds: 100 })
    expect(manifests.map(({ kind }) => kind).sort()).toEqual([
      'PodDisruptionBudget',
      'Service',
      'Service',
      'StatefulSet',
    ])
    expect(find(manifests, 'StatefulSet')).toMatchObject({
      spec: {
        replicas: 2,
        template: {
          spec: {
            enableServiceLinks: false,
            automountServiceAccountToken: false,
            terminationGracePeriodSeconds: 122,
            securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
            containers: [
              {
                image: 'gatehouse:0.1.0',
                securityContext: {
                  allowPrivilegeEscalation: false,
                  readOnlyRootFilesystem: true,
                  capabilities: { drop: ['ALL'] },
                },
                env: expect.arrayContaining([
                  { name: 'GATEHOUSE_DRAIN_DELAY_MS', value: '7000' },
                  { name: 'GATEHOUSE_SHUTDOWN_TIMEOUT_MS', value: '100000' },
                  {
                    name: 'DATABASE_URL',
                    valueFrom: { secretKeyRef: { name: 'keys', key: 'DATABASE_URL' } },
                  },
                ]),
                volumeMounts: [{ name: 'data', mountPath: '/data' }],
                livenessProbe: { httpGet: { path: '/healthz' } },
                readinessProbe: { httpGet: { path: '/readyz' } },
              },
            ],
          },
        },
      },
    })
  })

  test('creates every optional part, with the alerts as in Prometheus', async () => {
    const manifests = await render({
      configuration: { plans: { default: 'team' } },
      ingress: { enabled: true, hosts: ['gatehouse.example'], className: 'nginx' },
      autoscaling: { enabled: true },
      metrics: {
        serviceMonitor: { enabled: true },
        prometheusRule: { enabled: true, labels: { release: 'main' } },
      },
      podLabels: { team: 'llm' },
      podAnnotations: { note: 'here' },
      extraEnv: [{ name: 'NODE_EXTRA_CA_CERTS', value: '/ca/ca.pem' }],
      extraVolumes: [{ name: 'ca', configMap: { name: 'ca' } }],
      extraVolumeMounts: [{ name: 'ca', mountPath: '/ca' }],
      tolerations: [{ key: 'llm', operator: 'Exists' }],
    })
    const statefulSet = find(manifests, 'StatefulSet')
    expect(statefulSet?.spec).not.toHaveProperty('replicas')
    expect(find(manifests, 'HorizontalPodAutoscaler')).toMatchObject({
      spec: { scaleTargetRef: { kind: 'StatefulSet' } },
    })
    const configuration = find(manifests, 'ConfigMap')?.data as { 'gatehouse.yaml': string }
    expect(parse(configuration['gatehouse.yaml'])).toEqual({ plans: { default: 'team' } })
    expect(find(manifests, 'ServiceMonitor')).toMatchObject({
      spec: {
        endpoints: [
          { port: 'metrics', relabelings: [{ targetLabel: 'job', replacement: 'gatehouse' }] },
        ],
      },
    })
    const rules = find(manifests, 'PrometheusRule')
    expect(rules?.metadata.labels.release).toBe('main')
    expect(rules?.spec).toEqual(
      parse(readFileSync(join(REPOSITORY, 'deploy/prometheus/alerts.yaml'), 'utf8')),
    )
  })

  test('passes numbers on as written, however large', async () => {
    const settings = {
      GATEHOUSE_MAX_BODY_BYTES: 67_108_864,
      GATEHOUSE_UPSTREAM_MAX_IDLE: 0,
      ACME_FLAG: true,
    }
    const manifests = await render({
      settings: { ...settings, OTEL_TRACES_SAMPLER_ARG: 0.25, ACME_NAME: 'x' },
    })
    expect(find(manifests, 'StatefulSet')).toMatchObject({
      spec: {
        template: {
          spec: {
            containers: [
              {
                env: expect.arrayContaining([
                  { name: 'GATEHOUSE_MAX_BODY_BYTES', value: '67108864' },
                  { name: 'GATEHOUSE_UPSTREAM_MAX_IDLE', value: '0' },
                  { name: 'OTEL_TRACES_SAMPLER_ARG', value: '0.25' },
                  { name: 'ACME_FLAG', value: 'true' },
                  { name: 'ACME_NAME', value: 'x' },
                ]),
              },
            ],
          },
        },
      },
    })
    await expect(render({ settings: { GATEHOUSE_PROT: 1 } })).rejects.toThrow('GATEHOUSE_PROT')
    await expect(render({ settings: { GATEHOUSE_PORT: 70_000 } })).rejects.toThrow('GATEHOUSE_PORT')
  })

  test('listens where the values say, and refuses by name what another value stands for', async () => {
    const environmentOf = async (given: object) => {
      const [container] = (
        find(await render(given), 'StatefulSet') as unknown as {
          spec: { template: { spec: { containers: { env: { name: string; value: string }[] }[] } } }
        }
      ).spec.template.spec.containers
      return (container?.env ?? []).filter(({ name }) => /_HOST$|_PORT$/.test(name))
    }
    expect(await environmentOf({})).toEqual([
      { name: 'GATEHOUSE_HOST', value: '0.0.0.0' },
      { name: 'GATEHOUSE_PORT', value: '4000' },
      { name: 'GATEHOUSE_METRICS_HOST', value: '0.0.0.0' },
      { name: 'GATEHOUSE_METRICS_PORT', value: '9464' },
    ])
    const settings = { GATEHOUSE_HOST: '::', GATEHOUSE_METRICS_HOST: '::1' }
    expect(await environmentOf({ settings })).toEqual([
      { name: 'GATEHOUSE_HOST', value: '::' },
      { name: 'GATEHOUSE_METRICS_HOST', value: '::1' },
      { name: 'GATEHOUSE_PORT', value: '4000' },
      { name: 'GATEHOUSE_METRICS_PORT', value: '9464' },
    ])
    const configuration = { plans: { default: 'team' } }
    for (const [name, value, instead] of [
      ['GATEHOUSE_PORT', 8080, 'service.port'],
      ['GATEHOUSE_DATA_DIR', '/var/lib/gatehouse', 'persistence'],
      ['GATEHOUSE_DRAIN_DELAY_MS', 9000, 'drainDelaySeconds'],
      ['GATEHOUSE_SHUTDOWN_TIMEOUT_MS', 9000, 'shutdownTimeoutSeconds'],
      ['GATEHOUSE_METRICS_PORT', 9000, 'metrics.port'],
      ['GATEHOUSE_CONFIG', '/elsewhere.yaml', 'configuration'],
    ] as const) {
      const refused = render({ configuration, settings: { [name]: value } })
      await expect(refused).rejects.toThrow(`settings.${name} is set by the chart`)
      await expect(refused).rejects.toThrow(`use ${instead}`)
    }
    // The same value is no contradiction, and without the chart's own there is none.
    await render({ settings: { GATEHOUSE_PORT: 4000, GATEHOUSE_DRAIN_DELAY_MS: '5000' } })
    await render({ settings: { GATEHOUSE_CONFIG: '/elsewhere.yaml' } })
  })

  test('starts pods without their configuration file once it was taken out on purpose', async () => {
    const containersOf = async (given: object) =>
      find(await render(given), 'StatefulSet') as unknown as object
    expect(await containersOf({ forgetConfiguration: true })).toMatchObject({
      spec: { template: { spec: { containers: [{ args: ['serve', '--forget-config'] }] } } },
    })
    expect(JSON.stringify(await containersOf({}))).not.toContain('--forget-config')
  })

  test('creates one node with a file, without a disruption budget that would block its machine', async () => {
    const manifests = await render({ store: 'sqlite', redis: false, replicaCount: 1 })
    expect(find(manifests, 'PodDisruptionBudget')).toBeUndefined()
    expect(JSON.stringify(manifests)).not.toContain('DATABASE_URL')
  })

  test('refuses a second node on a file, an unnamed secret, and members unknown to its schema', async () => {
    await expect(render({ store: 'sqlite', replicaCount: 2 })).rejects.toThrow(
      "store sqlite is one node's own",
    )
    await expect(render({ existingSecret: '' })).rejects.toThrow('existingSecret is required')
    await expect(render({ replicas: 3 })).rejects.toThrow("'replicas' not allowed")
  })
})
