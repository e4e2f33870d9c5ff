/**
 * Renews generated parts of documents and code: `bun scripts/docs.ts`. With --check only reports
 * stale parts.
 */
import { join } from 'node:path'
import { layers, roots } from '../layers.mjs'
import { isJsonWalk, JSON_WALK, jsonWalk } from './json-walk.ts'
import { layerTableText, replaceBetweenMarkers } from './layer-table.ts'
import { METRICS_PAGE, metricsPage } from './metrics-page.ts'
import { toApiTypes } from './openapi/api-types.ts'
import { SETTINGS_PAGE, settingsPage } from './settings-page.ts'
import { VALUES_SCHEMA, withSettings } from './settings-schema.ts'

const HOUSE = join(import.meta.dir, '..')
const DOCUMENTS = ['docs/architecture.md']
const API_TYPES = 'src/contract/api.generated.ts'

const checkOnly = process.argv.includes('--check')
const table = layerTableText(layers, roots)
let faults = 0

const walk = await read(JSON_WALK)
if (!isJsonWalk(walk))
  await renew(JSON_WALK, walk, checkOnly ? '' : jsonWalk(), 'it is not made of wasm/json-walk.ts')
// Imported after renewing, because the probes use the renewed JSON walk.
const { conformanceTexts } = await import('./conformance/conformance-texts.ts')
const conformance = conformanceTexts()
for (const path of DOCUMENTS) {
  const text = await read(path)
  const renewed = replaceBetweenMarkers(text, 'layers', table)
  if (renewed === undefined)
    complain(`${path}: the markers <!-- layers:start --> and <!-- layers:end --> are not there`)
  else await renew(path, text, renewed, 'the layer table differs from layers.mjs')
}
for (const fault of conformance.faults) complain(`conformance: ${fault}`)
for (const [path, text] of conformance.files) {
  if (conformance.faults.length === 0)
    await renew(
      path,
      await read(path),
      text,
      'it is not what the probes in scripts/conformance/ find',
    )
}
await renew(
  METRICS_PAGE,
  await read(METRICS_PAGE),
  metricsPage(),
  'it is not what src/telemetry/metric-list.ts says',
)
await renew(
  SETTINGS_PAGE,
  await read(SETTINGS_PAGE),
  settingsPage(),
  'it is not what src/config/setting-table.ts says',
)
const schema = await read(VALUES_SCHEMA)
await renew(
  VALUES_SCHEMA,
  schema,
  withSettings(schema),
  'its settings are not what src/config/setting-table.ts says',
)
// Imported after renewing, because the program uses the renewed JSON walk.
const { readDocument } = await import('./openapi/read-document.ts')
await renew(
  API_TYPES,
  await read(API_TYPES),
  toApiTypes(await readDocument()),
  'it is not what /openapi.json describes',
)
console.log(`documents: ${DOCUMENTS.length + conformance.files.size + 5} read, ${faults} faults`)
if (faults > 0) process.exitCode = 1

async function read(path: string): Promise<string> {
  const file = Bun.file(join(HOUSE, path))
  return (await file.exists()) ? await file.text() : ''
}

async function renew(path: string, text: string, renewed: string, stale: string): Promise<void> {
  if (renewed === text) return
  if (checkOnly) {
    complain(`${path}: ${stale}. Cure: make fmt`)
    return
  }
  await Bun.write(join(HOUSE, path), renewed)
  console.log(`${path}: renewed`)
}

function complain(text: string): void {
  faults += 1
  console.error(text)
}
