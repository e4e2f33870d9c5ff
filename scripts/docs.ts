/** Renews what documents take from the code: `bun scripts/docs.ts`; with --check it only says what is stale. */
import { join } from 'node:path'
import { layers, roots } from '../layers.mjs'
import { layerTableText, replaceBetweenMarkers } from './layer-table.ts'

const HOUSE = join(import.meta.dir, '..')
const DOCUMENTS = ['CONTRIBUTING.md', 'docs/architecture.md']

const checkOnly = process.argv.includes('--check')
const table = layerTableText(layers, roots)
let faults = 0

for (const path of DOCUMENTS) {
  const file = Bun.file(join(HOUSE, path))
  const text = (await file.exists()) ? await file.text() : ''
  const renewed = replaceBetweenMarkers(text, 'layers', table)
  if (renewed === undefined) {
    faults += 1
    console.error(`${path}: the markers <!-- layers:start --> and <!-- layers:end --> are not there`)
  } else if (renewed !== text && checkOnly) {
    faults += 1
    console.error(`${path}: the layer table differs from layers.mjs. Cure: make fmt`)
  } else if (renewed !== text) {
    await Bun.write(file, renewed)
    console.log(`${path}: renewed`)
  }
}
console.log(`documents: ${DOCUMENTS.length} read, ${faults} faults`)
if (faults > 0) process.exitCode = 1
