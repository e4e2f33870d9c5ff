import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ApiKey } from '../core/api-key.ts'
import type { KeyId } from '../core/ids.ts'
import { OrderedKeys } from './ordered-keys.ts'
import { newestFirst } from './snapshot.ts'

const rows = fc.uniqueArray(
  fc.record({ createdAt: fc.nat(5), id: fc.string({ maxLength: 3 }).map((id) => id as KeyId) }),
  { selector: ({ id }) => id, maxLength: 30 },
)
const filters = [undefined, ({ createdAt }: ApiKey) => createdAt % 2 === 0]
const steps = fc.array(
  fc.oneof(
    fc.record({ type: fc.constant('add' as const), row: fc.nat(29) }),
    fc.record({ type: fc.constant('remove' as const), row: fc.nat(29) }),
    fc.record({ type: fc.constant('page' as const), row: fc.nat(29), limit: fc.nat(9) }),
  ),
  { maxLength: 60 },
)

test('pages are those of the whole list, newest first, whatever was added and removed before', () => {
  fc.assert(
    fc.property(rows, steps, (all, taken) => {
      const entries = all.map((record) => ({ record: record as ApiKey }))
      const keys = new OrderedKeys<{ readonly record: ApiKey }>()
      const held = new Set<{ readonly record: ApiKey }>()
      for (const step of taken) {
        const entry = entries[step.row % entries.length]
        if (entry === undefined) continue
        if (step.type === 'add' && !held.has(entry)) {
          keys.add(entry)
          held.add(entry)
        } else if (step.type === 'remove') {
          keys.remove(entry)
          held.delete(entry)
        } else if (step.type === 'page') {
          const { createdAt: at, id } = entry.record
          const list = newestFirst(
            [...held].map(({ record }) => record),
            (row) => row.id,
          )
          const older = list.filter(
            (row) => row.createdAt < at || (row.createdAt === at && row.id < id),
          )
          for (const isListed of filters) {
            const page = keys.newestFirst({
              limit: step.limit,
              before: { at, id },
              ...(isListed && { isListed }),
            })
            const wanted = older.filter(isListed ?? (() => true)).slice(0, step.limit)
            expect(page.map(({ record }) => record)).toEqual(wanted)
          }
          expect(keys.newestFirst({}).map(({ record }) => record)).toEqual(list)
        }
        expect(keys.size).toBe(held.size)
      }
    }),
  )
})
