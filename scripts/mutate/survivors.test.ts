/** The list of survivors follows the code, also where its lines are only broken elsewhere. */
import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { findMutants } from './find-mutants.ts'
import { createReport } from './report.ts'
import { survivors } from './survivors.ts'

test('each entry is a mutant of the code', () => {
  const paths = [...new Set(survivors.map(({ path }) => path))]
  const pool = paths.flatMap((path) =>
    findMutants(path, readFileSync(join(import.meta.dir, '../..', path), 'utf8')),
  )
  const isAsked = () => true
  expect(
    createReport({ folders: [], outcomes: [], pool, isAsked, listed: survivors }).gone,
  ).toEqual([])
})
