/** The README's benchmark part against the results it comes from. */
import { expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Results, toSummary } from './report.ts'

const RESULTS = join(import.meta.dir, 'results')

test('the headline and the table of the README are those of the newest results', () => {
  const [newest = ''] = readdirSync(RESULTS).sort().reverse()
  const results: Results = JSON.parse(readFileSync(join(RESULTS, newest), 'utf8'))
  const readme = readFileSync(join(import.meta.dir, '../README.md'), 'utf8')
  const [, shown] = /<!-- benchmarks -->\n([\s\S]*?)<!-- \/benchmarks -->/.exec(readme) ?? []
  expect(shown).toBe(toSummary(results))
})
